(** * The bound of e^ε

    [exp_below] of [privacy/exact.py]: partial sums of the exponential series in integers, each term rounded
    down, and eight squarings, each rounded down. Every step can only make the result smaller, so the result is
    a lower bound of e^ε. The check of a window, H·2^320 ≤ E·L in integers, then gives H/L ≤ e^ε.

    This is the only file that uses real numbers, and so the only one whose theorems depend on axioms: those of
    Coq's real numbers. *)

From Coq Require Import Reals Lra.
From Dither Require Export Window.
Open Scope N_scope.

(** ** The program *)

(** Terms number [i], i + 1, … of the series of num/den, in units; at most [fuel] of them. *)
Fixpoint series (fuel : nat) (num den i term sum : N) : N :=
  match fuel with
  | O => sum
  | S f =>
    let term' := term * num / (den * i) in
    if term' =? 0 then sum else series f num den (i + 1) term' (sum + term')
  end.

Fixpoint squared (times : nat) (unit sum : N) : N :=
  match times with O => sum | S t => squared t unit (sum * sum / unit) end.

(** ε = num/den is halved [halvings] times before the series, and squared as often after it. *)
Definition exp_below (bits : N) (halvings fuel : nat) (num den : N) : N :=
  let unit := 2 ^ bits in
  squared halvings unit (series fuel num (den * 2 ^ N.of_nat halvings) 1 unit unit).

(** The check of [certify]: the weights H and L, and the bound B of e^ε in units. *)
Definition certified (bits high low bound : N) : bool := (1 <=? low) && (high * 2 ^ bits <=? bound * low).

(** ** It is below *)

Open Scope R_scope.

Definition real (n : N) : R := IZR (Z.of_N n).

Lemma real_add a b : real (a + b) = real a + real b.
Proof. unfold real. rewrite N2Z.inj_add, plus_IZR. reflexivity. Qed.
Lemma real_mul a b : real (a * b) = real a * real b.
Proof. unfold real. rewrite N2Z.inj_mul, mult_IZR. reflexivity. Qed.
Lemma real_le a b : (a <= b)%N -> real a <= real b.
Proof. unfold real. intros H. apply IZR_le. lia. Qed.
Lemma real_pos a : 0 <= real a.
Proof. apply (IZR_le 0). lia. Qed.
Lemma real_positive a : (0 < a)%N -> 0 < real a.
Proof. intros. apply (IZR_lt 0). lia. Qed.
Lemma real_nat n : real (N.of_nat n) = INR n.
Proof. unfold real. rewrite nat_N_Z, <- INR_IZR_INZ. reflexivity. Qed.

(** A quotient rounded down is at most the quotient. *)
Lemma real_div a b : (0 < b)%N -> real (a / b) <= real a / real b.
Proof.
  intros H. assert (P : 0 < real b) by (apply real_positive; auto).
  apply Rmult_le_reg_r with (real b); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- real_mul. apply real_le. rewrite N.mul_comm. apply N.mul_div_le. lia.
Qed.

(** Partial sums of the series of e^x are at most e^x, for x ≥ 0. *)
Definition partial (x : R) (n : nat) : R := sum_f_R0 (fun k => / INR (fact k) * x ^ k) n.

Lemma partial_below x n : 0 <= x -> partial x n <= exp x.
Proof.
  intros Hx. unfold partial. apply sum_incr.
  - unfold exp. destruct (exist_exp x) as [l E]. exact E.
  - intros k. apply Rmult_le_pos; [|apply pow_le; auto].
    left. apply Rinv_0_lt_compat. apply lt_0_INR. apply lt_O_fact.
Qed.

Lemma series_below unit num den fuel : (0 < den)%N -> forall n term sum,
  real term <= real unit * (/ INR (fact n) * (real num / real den) ^ n) ->
  real sum <= real unit * partial (real num / real den) n ->
  real (series fuel num den (N.of_nat (S n)) term sum) <= real unit * exp (real num / real den).
Proof.
  intros Hd. set (x := real num / real den).
  assert (D : 0 < real den) by (apply real_positive; auto).
  assert (X : 0 <= x) by (apply Rmult_le_pos; [apply real_pos|left; apply Rinv_0_lt_compat; auto]).
  induction fuel as [|f IH]; intros n term sum T S; cbn [series].
  - apply Rle_trans with (1 := S). apply Rmult_le_compat_l; [apply real_pos|apply partial_below; auto].
  - set (term' := (term * num / (den * N.of_nat (Datatypes.S n)))%N).
    assert (P : 0 < INR (Datatypes.S n)) by (apply lt_0_INR; lia).
    assert (T' : real term' <= real unit * (/ INR (fact (Datatypes.S n)) * x ^ Datatypes.S n)).
    { apply Rle_trans with (real (term * num) / real (den * N.of_nat (Datatypes.S n))).
      - apply real_div. nia.
      - rewrite !real_mul, real_nat.
        replace (real term * real num / (real den * INR (Datatypes.S n))) with (real term * (x / INR (Datatypes.S n)))
          by (unfold x; field; split; lra).
        replace (real unit * (/ INR (fact (Datatypes.S n)) * x ^ Datatypes.S n))
          with (real unit * (/ INR (fact n) * x ^ n) * (x / INR (Datatypes.S n))).
        2:{ change (fact (Datatypes.S n)) with (Datatypes.S n * fact n)%nat. rewrite mult_INR.
            change (x ^ Datatypes.S n) with (x * x ^ n). field. split; [apply INR_fact_neq_0|lra]. }
        apply Rmult_le_compat_r; auto. apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat; auto. }
    destruct (term' =? 0)%N.
    + apply Rle_trans with (1 := S). apply Rmult_le_compat_l; [apply real_pos|apply partial_below; auto].
    + replace (N.of_nat (Datatypes.S n) + 1)%N with (N.of_nat (Datatypes.S (Datatypes.S n))) by lia.
      apply IH; auto. unfold partial. cbn [sum_f_R0]. rewrite real_add, Rmult_plus_distr_l.
      apply Rplus_le_compat; auto.
Qed.

Lemma squared_below unit times : (0 < unit)%N -> forall sum x, 0 <= x ->
  real sum <= real unit * exp x -> real (squared times unit sum) <= real unit * exp (x * 2 ^ times).
Proof.
  intros Hu. assert (U : 0 < real unit) by (apply real_positive; auto).
  induction times as [|t IH]; intros sum x Hx S; cbn [squared].
  - simpl. rewrite Rmult_1_r. auto.
  - replace (x * 2 ^ Datatypes.S t) with (2 * x * 2 ^ t) by (simpl; ring).
    apply IH; [lra|]. apply Rle_trans with (real (sum * sum) / real unit); [apply real_div; auto|].
    rewrite real_mul. replace (2 * x) with (x + x) by ring. rewrite exp_plus.
    replace (real unit * (exp x * exp x)) with (real unit * exp x * (real unit * exp x) / real unit) by (field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|].
    apply Rmult_le_compat; auto using real_pos.
Qed.

(** The bound in units of 2^−bits is at most e^ε, for ε = num/den. *)
Theorem exp_below_is_below bits halvings fuel num den : (0 < den)%N ->
  real (exp_below bits halvings fuel num den) <= real (2 ^ bits) * exp (real num / real den).
Proof.
  intros Hd. unfold exp_below. set (unit := (2 ^ bits)%N).
  assert (U : (0 < unit)%N) by (unfold unit; assert (2 ^ bits <> 0)%N by (apply N.pow_nonzero; lia); lia).
  set (two := (2 ^ N.of_nat halvings)%N).
  assert (W : real two = 2 ^ halvings).
  { unfold two, real. rewrite N2Z.inj_pow, nat_N_Z. change (Z.of_N 2) with 2%Z. rewrite <- pow_IZR. reflexivity. }
  assert (P : 0 < (2 ^ halvings)%R) by (apply pow_lt; lra).
  assert (D : 0 < real den) by (apply real_positive; auto).
  assert (Hdt : (0 < den * two)%N).
  { assert (two <> 0)%N by (apply N.pow_nonzero; lia). nia. }
  replace (real num / real den) with (real num / real (den * two) * 2 ^ halvings)
    by (rewrite real_mul, W; field; lra).
  apply squared_below; auto.
  - apply Rmult_le_pos; [apply real_pos|left; apply Rinv_0_lt_compat; apply real_positive; auto].
  - change 1%N with (N.of_nat 1) at 1. apply series_below; auto; unfold partial; simpl; lra.
Qed.

(** ** From integers to e^ε *)

(** The integer inequality gives H ≤ e^ε·L. *)
Theorem certified_ratio bits halvings fuel num den high low : (0 < den)%N ->
  certified bits high low (exp_below bits halvings fuel num den) = true ->
  real high <= exp (real num / real den) * real low.
Proof.
  intros Hd C. apply andb_prop in C as [_ C]. apply N.leb_le in C. apply real_le in C. rewrite !real_mul in C.
  assert (U : 0 < real (2 ^ bits)).
  { apply real_positive. assert (2 ^ bits <> 0)%N by (apply N.pow_nonzero; lia). lia. }
  pose proof (exp_below_is_below bits halvings fuel num den Hd) as B.
  apply Rmult_le_reg_r with (real (2 ^ bits)); auto. apply Rle_trans with (1 := C).
  replace (exp (real num / real den) * real low * real (2 ^ bits))
    with (real (2 ^ bits) * exp (real num / real den) * real low) by ring.
  apply Rmult_le_compat_r; auto using real_pos.
Qed.

(** ε-local differential privacy: for every event P(event | x) ≤ e^ε·P(event | x′). The probability is the
    number of random strings for which the event happens over the number of all of them. *)
Definition probability {Y} (P : Y -> bool) (l : list Y) : R := real (count P l) / INR (length l).

Theorem close_private {Y} (l m : list Y) high low epsilon :
  close high low l m -> (0 < low)%N -> length l = length m -> l <> [] -> real high <= exp epsilon * real low ->
  forall P, probability P l <= exp epsilon * probability P m.
Proof.
  intros C L E N0 H P. specialize (C P). apply real_le in C. rewrite !real_mul in C.
  assert (Lr : 0 < real low) by (apply real_positive; auto).
  assert (K : real (count P l) <= exp epsilon * real (count P m)).
  { apply Rmult_le_reg_r with (real low); auto. apply Rle_trans with (1 := C).
    replace (exp epsilon * real (count P m) * real low) with (real (count P m) * (exp epsilon * real low)) by ring.
    apply Rmult_le_compat_l; auto using real_pos. }
  unfold probability. rewrite E. unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; auto.
  left. apply Rinv_0_lt_compat, lt_0_INR. rewrite <- E. destruct l; [contradiction|simpl; lia].
Qed.

(** Ratios that multiply are ε that add up: this is what composition costs in [Combine.v], and what an account
    adds in [Account.v]. *)
Theorem ratios_add a b a' b' epsilon epsilon' :
  real a <= exp epsilon * real b -> real a' <= exp epsilon' * real b' ->
  real (a * a') <= exp (epsilon + epsilon') * real (b * b').
Proof.
  intros H H'. rewrite !real_mul, exp_plus.
  replace (exp epsilon * exp epsilon' * (real b * real b')) with (exp epsilon * real b * (exp epsilon' * real b')) by ring.
  apply Rmult_le_compat; auto using real_pos.
Qed.

(** All together, for the bytes that a device sends about two values: a draw whose counts are close, and the
    check H·2^320 ≤ E·L in integers. *)
Theorem messages_epsilon width (draw draw' : list N -> option (N * list N)) n high low halvings fuel num den :
  close high low (outcomes draw n) (outcomes draw' n) -> (0 < den)%N ->
  certified 320 high low (exp_below 320 halvings fuel num den) = true ->
  forall P, probability P (messages width draw n) <= exp (real num / real den) * probability P (messages width draw' n).
Proof.
  intros C Hd H. apply (close_private _ _ high low).
  - apply messages_private; auto.
  - apply andb_prop in H as [H _]. apply N.leb_le in H. lia.
  - unfold messages, outcomes. rewrite !map_length. reflexivity.
  - unfold messages, outcomes. intros E. apply map_eq_nil, map_eq_nil in E.
    pose proof (tapes_all n) as A. rewrite E in A. pose proof (room_positive n) as R. simpl in A. lia.
  - apply certified_ratio with (1 := Hd) (2 := H).
Qed.

Section Draws.
  Variables (early late : nat) (step num den : N) (halvings fuel width : nat).
  Hypothesis denominator : (0 < den)%N.
  Let check high low := certified 320 high low (exp_below 320 halvings fuel num den) = true.
  Let epsilon := real num / real den.

  (** Sliding windows: any two start rules, that is, any two values. *)
  Theorem sliding_messages k K coins start start' :
    let sent s := messages width (sliding early late k K step coins s) (mixed_bytes early late k coins) in
    fits early late K step = true -> (K <= 2 ^ k)%N ->
    check (inside early late (2 ^ k) K step) (outside early late K step) ->
    forall P, probability P (sent start) <= exp epsilon * probability P (sent start').
  Proof. intros sent F H C. apply messages_epsilon with (3 := C); auto. apply sliding_private; auto. Qed.

  (** Numbers that may be missing. *)
  Theorem optional_messages k K coins answered answered' start start' :
    let sent a s := messages width (optional early late k K step coins a s) (mixed_bytes early late k coins) in
    fits early late K step = true -> (2 * K <= 2 ^ k)%N ->
    check (inside early late (2 ^ k) K step) (outside early late K step) ->
    forall P, probability P (sent answered start) <= exp epsilon * probability P (sent answered' start').
  Proof. intros sent F H C. apply messages_epsilon with (3 := C); auto. apply optional_private; auto. Qed.

  (** The nearest, or listed, K of n numbers, with a rejection of [tries] tries. *)
  Theorem nearest_messages tries n K w w' :
    let sent v := messages width (nearest early late tries n K step v) (nearest_bytes early late tries n) in
    fits early late K step = true -> different n w = true -> different n w' = true ->
    N.of_nat (length w) = K -> N.of_nat (length w') = K ->
    check (inside early late n K step) (outside early late K step) ->
    forall P, probability P (sent w) <= exp epsilon * probability P (sent w').
  Proof. intros sent F D D' E E' C. apply messages_epsilon with (3 := C); auto. apply nearest_private; auto. Qed.

  (** Randomized response (j = 0) and sectors. *)
  Theorem blocks_messages j T code code' :
    let sent c := messages width (blocks early late j T step c) (blocks_bytes early late j) in
    fits early late T step = true -> (code < T)%N -> (code' < T)%N -> check (own early late T step) step ->
    forall P, probability P (sent code) <= exp epsilon * probability P (sent code').
  Proof. intros sent F H H' C. apply messages_epsilon with (3 := C); auto. apply blocks_private; auto. Qed.
End Draws.
