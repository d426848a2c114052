(** * What the theorems assume

    Coq prints the axioms on which each theorem depends. "Closed under the global context" means none. Only e^ε
    needs real numbers, and with them the axioms of Coq's standard library about real numbers. *)

From Dither Require Import Exponential Combine Account Tables.

Print Assumptions each_ticket_exactly.
Print Assumptions nothing_exactly.
Print Assumptions lottery_exactly.
Print Assumptions inside_exactly.
Print Assumptions outside_exactly.
Print Assumptions mixed_private.
Print Assumptions sliding_private.
Print Assumptions optional_private.
Print Assumptions below_exactly.
Print Assumptions nearest_private.
Print Assumptions blocks_private.
Print Assumptions response_private.
Print Assumptions message_value.
Print Assumptions messages_private.
Print Assumptions post_processing.
Print Assumptions permanent_answer.
Print Assumptions public_map.
Print Assumptions mixture.
Print Assumptions one_of_several.
Print Assumptions composition.
Print Assumptions repetition.
Print Assumptions product_private.
Print Assumptions bits_private.
Print Assumptions charge_enough.
Print Assumptions limit_slack.
Print Assumptions never_exceeds.
Print Assumptions budget_with_slack.
Print Assumptions sent_was_charged.
Print Assumptions permanent_once.
Print Assumptions fill_exactly.
Print Assumptions table_exactly.
Print Assumptions alias_exactly.
Print Assumptions alias_private.
Print Assumptions exp_below_is_below.
Print Assumptions certified_ratio.
Print Assumptions close_private.
Print Assumptions ratios_add.
Print Assumptions sliding_messages.
Print Assumptions optional_messages.
Print Assumptions nearest_messages.
Print Assumptions blocks_messages.
