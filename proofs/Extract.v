(** * Extraction

    The draws as an OCaml program. [N] becomes an integer of any size (Zarith), never OCaml's int of 63 bits. The
    extraction itself, Zarith and the compiler are trusted; the conformance vectors test their result. *)

From Coq Require Extraction.
From Dither Require Import Exponential Tables.

Extraction Language OCaml.
Extract Inductive bool => "bool" [ "true" "false" ].
Extract Inductive option => "option" [ "Some" "None" ].
Extract Inductive list => "list" [ "[]" "(::)" ].
Extract Inductive prod => "(*)" [ "(,)" ].
Extract Inlined Constant fst => "fst".
Extract Inlined Constant snd => "snd".

Extract Inductive positive => "Z.t"
  [ "(fun p -> Z.succ (Z.shift_left p 1))" "(fun p -> Z.shift_left p 1)" "Z.one" ]
  "(fun odd even one p -> if Z.equal p Z.one then one () else if Z.is_odd p then odd (Z.shift_right p 1) else even (Z.shift_right p 1))".
Extract Inductive N => "Z.t" [ "Z.zero" "(fun p -> p)" ]
  "(fun zero positive n -> if Z.sign n = 0 then zero () else positive n)".

(** Coq's conventions: x − y is 0 for x < y, x / 0 is 0, x mod 0 is x. *)
Extract Inlined Constant N.add => "Z.add".
Extract Inlined Constant N.mul => "Z.mul".
Extract Inlined Constant N.eqb => "Z.equal".
Extract Inlined Constant N.ltb => "Z.lt".
Extract Inlined Constant N.leb => "Z.leq".
Extract Constant N.sub => "fun a b -> if Z.lt a b then Z.zero else Z.sub a b".
Extract Constant N.div => "fun a b -> if Z.sign b = 0 then Z.zero else Z.div a b".
Extract Constant N.modulo => "fun a b -> if Z.sign b = 0 then a else Z.rem a b".
Extract Constant N.pow => "fun a b -> Z.pow a (Z.to_int b)".
Extract Constant N.to_nat => "fun a -> let rec count k = if k <= 0 then O else S (count (k - 1)) in count (Z.to_int a)".
Extract Constant N.of_nat => "fun a -> let rec count k = function O -> Z.of_int k | S n -> count (k + 1) n in count 0 a".
Extract Constant N.size => "fun a -> Z.of_int (Z.numbits a)".

Extraction "draws.ml" fits different inside outside own message blocks sliding optional line_start knot_start nearest
  room bytes_of digits exp_below certified table alias total.
