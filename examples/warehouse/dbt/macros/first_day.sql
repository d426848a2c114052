{# The first day to count: the last one that is in the model, which may have been incomplete; `back` days earlier
   for copies. All days on the first run. #}
{% macro first_day(back) -%}
{%- if is_incremental() -%}
((SELECT MAX(day) FROM {{ this }}) - INTERVAL '{{ back }} days')
{%- else -%}
DATE '1970-01-01'
{%- endif -%}
{%- endmacro %}
