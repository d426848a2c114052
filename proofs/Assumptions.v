(** * What the theorems assume

    Coq prints the axioms on which the theorems depend. "Closed under the global context" means none, for all of
    the first list. Only e^ε needs real numbers, and with them the axioms of Coq's standard library about them. *)

From Dither Require Import Exponential Combine Account Tables.

Definition without_axioms :=
  (@each_ticket_exactly, @nothing_exactly, @lottery_exactly, @inside_exactly, @outside_exactly,
   @mixed_private, @sliding_private, @optional_private, @below_exactly, @nearest_private, @blocks_private,
   @response_private, @message_value, @messages_private, @post_processing, @permanent_answer, @public_map,
   @mixture, @one_of_several, @composition, @repetition, @product_private, @bits_private, @charge_enough,
   @limit_slack, @never_exceeds, @budget_with_slack, @sent_was_charged, @permanent_once, @fill_exactly,
   @table_exactly, @alias_exactly, @alias_private).
Print Assumptions without_axioms.

Definition with_real_numbers :=
  (@exp_below_is_below, @certified_ratio, @close_private, @ratios_add, @sliding_messages, @optional_messages,
   @nearest_messages, @blocks_messages).
Print Assumptions with_real_numbers.
