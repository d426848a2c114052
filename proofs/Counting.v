(** * Counting

    A randomised program with finitely many equally likely inputs is the list of its outcomes. A probability
    is a number of outcomes over the length of that list. This file counts in lists of binary numbers, so
    that nothing here is ever computed in unary: 2^64 is a number of 65 digits. *)

From Coq Require Export PeanoNat NArith List Lia Bool.
From Coq Require FinFun.
Export ListNotations.
Global Open Scope N_scope.

(** ** Sums over a list *)

Fixpoint total {X} (f : X -> N) (l : list X) : N :=
  match l with [] => 0 | x :: t => f x + total f t end.

Definition one (b : bool) : N := if b then 1 else 0.

(** The number of outcomes for which an event happens. *)
Definition count {X} (P : X -> bool) (l : list X) : N := total (fun x => one (P x)) l.

Lemma total_ext {X} (f g : X -> N) l : (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof. induction l; simpl; intros H; auto. rewrite H, IHl; auto. Qed.

Lemma total_le {X} (f g : X -> N) l : (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof.
  induction l as [|x l IH]; simpl; intros H; [lia|].
  assert (f x <= g x) by (apply H; auto). assert (total f l <= total g l) by (apply IH; auto). lia.
Qed.

Lemma total_app {X} (f : X -> N) l m : total f (l ++ m) = total f l + total f m.
Proof. induction l; simpl; auto. rewrite IHl; lia. Qed.

Lemma total_map {X Y} (f : Y -> N) (g : X -> Y) l : total f (map g l) = total (fun x => f (g x)) l.
Proof. induction l; simpl; auto. rewrite IHl; auto. Qed.

Lemma total_flat_map {X Y} (f : Y -> N) (g : X -> list Y) l :
  total f (flat_map g l) = total (fun x => total f (g x)) l.
Proof. induction l; simpl; auto. rewrite total_app, IHl; auto. Qed.

Lemma total_plus {X} (f g : X -> N) l : total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l; simpl; lia. Qed.

Lemma total_scale {X} c (f : X -> N) l : total (fun x => c * f x) l = c * total f l.
Proof. induction l; simpl; lia. Qed.

Lemma total_const {X} c (l : list X) : total (fun _ => c) l = N.of_nat (length l) * c.
Proof. induction l; simpl length; simpl total; lia. Qed.

Lemma total_swap {X Y} (f : X -> Y -> N) l m :
  total (fun x => total (f x) m) l = total (fun y => total (fun x => f x y) l) m.
Proof. induction l; simpl. rewrite total_const; lia. rewrite IHl, <- total_plus. reflexivity. Qed.

Lemma count_map {X Y} (P : Y -> bool) (f : X -> Y) l : count P (map f l) = count (fun x => P (f x)) l.
Proof. unfold count. apply (total_map (fun y => one (P y))). Qed.

Lemma count_flat_map {X Y} (P : Y -> bool) (f : X -> list Y) l :
  count P (flat_map f l) = total (fun x => count P (f x)) l.
Proof. unfold count. apply (total_flat_map (fun y => one (P y))). Qed.

Lemma count_most {X} (P : X -> bool) l : count P l <= N.of_nat (length l).
Proof.
  replace (N.of_nat (length l)) with (total (fun _ => 1) l) by (rewrite total_const; lia).
  apply total_le; intros; unfold one; destruct (P x); lia.
Qed.

Lemma count_not {X} (P : X -> bool) l : count P l + count (fun x => negb (P x)) l = N.of_nat (length l).
Proof.
  unfold count. rewrite <- total_plus, (total_ext _ (fun _ => 1)), total_const; [lia|].
  intros x _. destruct (P x); reflexivity.
Qed.

(** Different elements of a list do not happen more often than all of its elements. *)
Lemma count_different {X} (P : X -> bool) l m : NoDup l -> incl l m -> count P l <= count P m.
Proof.
  revert m. induction l as [|x l IH]; intros m D I; [apply N.le_0_l|].
  destruct (in_split x m) as (a & b & ->); [apply I; left; auto|].
  inversion D; subst.
  assert (S : count P l <= count P (a ++ b)).
  { apply IH; auto. intros y Hy. assert (Hm : In y (a ++ x :: b)) by (apply I; right; auto).
    apply in_app_or in Hm as [?|[->|?]]; auto using in_or_app; contradiction. }
  unfold count in *. rewrite total_app in *. simpl. lia.
Qed.

(** ** The numbers below n *)

Definition range (n : N) : list N := map N.of_nat (seq 0 (N.to_nat n)).

Lemma range_length n : length (range n) = N.to_nat n.
Proof. unfold range. rewrite map_length, seq_length; auto. Qed.

Lemma in_range k n : In k (range n) <-> k < n.
Proof.
  unfold range. rewrite in_map_iff. split.
  - intros (i & <- & H). apply in_seq in H. lia.
  - intros H. exists (N.to_nat k). rewrite in_seq. split; lia.
Qed.

Lemma range_different n : NoDup (range n).
Proof. apply FinFun.Injective_map_NoDup; [intros x y; lia | apply seq_NoDup]. Qed.

Lemma range_add m n : range (m + n) = range m ++ map (N.add m) (range n).
Proof.
  unfold range. rewrite N2Nat.inj_add, seq_app, map_app. f_equal. simpl.
  generalize (N.to_nat n) as k. intros k. rewrite map_map.
  replace (N.to_nat m) with (N.to_nat m + 0)%nat at 1 by lia. generalize 0%nat as s.
  induction k; intros s; cbn [seq map]; auto. f_equal. lia. rewrite <- IHk, Nat.add_succ_r. reflexivity.
Qed.

Lemma total_range_const c n : total (fun _ => c) (range n) = n * c.
Proof. rewrite total_const, range_length. lia. Qed.

Lemma total_range_add f m n :
  total f (range (m + n)) = total f (range m) + total (fun j => f (m + j)) (range n).
Proof. rewrite range_add, total_app, total_map. reflexivity. Qed.

(** A number below a·b is i·b + j. *)
Lemma total_range_mul f a b :
  total f (range (a * b)) = total (fun i => total (fun j => f (i * b + j)) (range b)) (range a).
Proof.
  induction a as [|a IH] using N.peano_ind; [reflexivity|].
  replace (N.succ a * b) with (a * b + b) by lia. replace (N.succ a) with (a + 1) by lia.
  rewrite !total_range_add, IH. change (range 1) with [0]. cbn [total]. rewrite !N.add_0_r. reflexivity.
Qed.

(** The highest digits of a number below N·Q: each of the N is met Q times. *)
Lemma total_high f n q : total (fun e => f (e / q)) (range (n * q)) = q * total f (range n).
Proof.
  rewrite total_range_mul, <- total_scale. apply total_ext. intros i _.
  rewrite (total_ext _ (fun _ => f i)), total_range_const; [reflexivity|].
  intros j Hj. apply in_range in Hj. f_equal. symmetry. apply (N.div_unique _ _ _ j); lia.
Qed.

Lemma count_below p n : p <= n -> count (fun k => k <? p) (range n) = p.
Proof.
  intros H. replace n with (p + (n - p)) by lia. unfold count. rewrite total_range_add.
  transitivity (p * 1 + (n - p) * 0); [|lia]. f_equal; rewrite <- total_range_const; apply total_ext; intros j Hj.
  - apply in_range in Hj. destruct (N.ltb_spec j p); simpl; lia.
  - destruct (N.ltb_spec (p + j) p); simpl; lia.
Qed.

Lemma count_equal y n : y < n -> count (fun c => c =? y) (range n) = 1.
Proof.
  intros H. replace n with (y + (1 + (n - y - 1))) by lia. unfold count. rewrite !total_range_add.
  change (range 1) with [0]. cbn [total]. rewrite !N.add_0_r, N.eqb_refl.
  transitivity (y * 0 + (1 + (n - y - 1) * 0)); [|lia].
  f_equal; [|f_equal]; rewrite <- total_range_const; apply total_ext; intros j Hj.
  - apply in_range in Hj. destruct (N.eqb_spec j y); simpl; lia.
  - destruct (N.eqb_spec (y + (1 + j)) y); simpl; lia.
Qed.

(** ** Bytes *)

(** All strings of n bytes. A random source of n bytes gives each of them equally often: this is assumed. *)
Fixpoint tapes (n : nat) : list (list N) :=
  match n with O => [[]] | S m => flat_map (fun b => map (cons b) (tapes m)) (range 256) end.

(** A string of bytes as a little-endian number. *)
Fixpoint value (bytes : list N) : N :=
  match bytes with [] => 0 | b :: t => b + 256 * value t end.

(** The number of strings of n bytes. *)
Definition room (n : nat) : N := 256 ^ N.of_nat n.

Lemma room_add m n : room (m + n) = room m * room n.
Proof. unfold room. rewrite Nat2N.inj_add, N.pow_add_r. reflexivity. Qed.

Lemma room_succ n : room (S n) = 256 * room n.
Proof. apply (room_add 1 n). Qed.

Lemma room_positive n : 0 < room n.
Proof. unfold room. assert (256 ^ N.of_nat n <> 0) by (apply N.pow_nonzero; lia). lia. Qed.

Lemma total_tapes_succ f n :
  total f (tapes (S n)) = total (fun b => total (fun t => f (b :: t)) (tapes n)) (range 256).
Proof.
  cbn [tapes]. rewrite total_flat_map. apply total_ext. intros b _. apply total_map.
Qed.

Lemma total_tapes_add f m n :
  total f (tapes (m + n)) = total (fun a => total (fun z => f (a ++ z)) (tapes n)) (tapes m).
Proof.
  revert f. induction m; intros f.
  - cbn [Nat.add tapes total app]. rewrite N.add_0_r. reflexivity.
  - cbn [Nat.add]. rewrite !total_tapes_succ. apply total_ext. intros b _. rewrite IHm. reflexivity.
Qed.

(** Every number below 256^n is the value of exactly one string. *)
Lemma total_tapes_value f n : total (fun t => f (value t)) (tapes n) = total f (range (room n)).
Proof.
  revert f. induction n; intros f; [reflexivity|].
  transitivity (total (fun b => total (fun v => f (b + 256 * v)) (range (room n))) (range 256)).
  - rewrite total_tapes_succ. apply total_ext. intros b _. apply (IHn (fun v => f (b + 256 * v))).
  - rewrite room_succ, (N.mul_comm 256), total_range_mul, total_swap.
    apply total_ext. intros v _. apply total_ext. intros b _. f_equal. lia.
Qed.

Lemma tapes_length n t : In t (tapes n) -> length t = n.
Proof.
  revert t. induction n; cbn [tapes]; intros t.
  - intros [<-|[]]; reflexivity.
  - rewrite in_flat_map. intros (b & _ & H). apply in_map_iff in H as (s & <- & H). simpl. auto.
Qed.

Lemma tapes_all n : N.of_nat (length (tapes n)) = room n.
Proof.
  replace (N.of_nat (length (tapes n))) with (total (fun _ => 1) (tapes n)) by (rewrite total_const; lia).
  rewrite (total_tapes_value (fun _ => 1) n), total_range_const. lia.
Qed.

(** Strings that are split at another place are the same strings. *)
Lemma total_tapes_turn f m n :
  total (fun a => total (fun b => f (a ++ b)) (tapes n)) (tapes m)
  = total (fun a => total (fun b => f (a ++ b)) (tapes m)) (tapes n).
Proof. rewrite <- !total_tapes_add. rewrite Nat.add_comm. reflexivity. Qed.

(** The n bytes of a number, lowest first: how a report is sent. *)
Fixpoint message (n : nat) (y : N) : list N :=
  match n with O => [] | S m => y mod 256 :: message m (y / 256) end.

Theorem message_value n y : y < room n -> value (message n y) = y.
Proof.
  revert y. induction n; intros y H; cbn [message value].
  - change (room 0) with 1 in H. lia.
  - rewrite room_succ in H. rewrite IHn.
    + rewrite N.add_comm. symmetry. apply N.div_mod. lia.
    + apply N.div_lt_upper_bound; lia.
Qed.

(** ** Privacy, as a comparison of counts

    Two lists of equally likely outcomes are [close a b] if no event is more than a/b times likelier in the
    first. They are for two inputs of one person. With lists of the same length, and a/b ≤ e^ε, this is
    ε-local differential privacy; [Exponential.v] goes on to real numbers. *)

Definition close {Y} (a b : N) (l m : list Y) : Prop :=
  forall P : Y -> bool, count P l * b <= count P m * a.

(** What holds for events holds for every weighting of the outcomes: a weight is a pile of events. *)
Lemma close_total {Y} a b (l m : list Y) (f : Y -> N) : close a b l m -> total f l * b <= total f m * a.
Proof.
  intros C.
  assert (B : exists n, forall y, In y l \/ In y m -> f y <= n).
  { exists (total f (l ++ m)). intros y Hy.
    assert (Hin : In y (l ++ m)) by (apply in_or_app; tauto). clear - Hin.
    induction (l ++ m) as [|x k IH]; simpl in *; [tauto|]. destruct Hin as [->|Hin]; [lia|]. specialize (IH Hin). lia. }
  destruct B as [n B].
  assert (E : forall k, (forall y, In y k -> f y <= n) ->
              total f k = total (fun t => count (fun y => t <? f y) k) (range n)).
  { intros k Hk. unfold count. rewrite <- total_swap. apply total_ext. intros y Hy.
    symmetry. apply count_below; auto. }
  rewrite !E by auto. rewrite !(N.mul_comm _ b), !(N.mul_comm _ a), <- !total_scale.
  apply total_le. intros t _. specialize (C (fun y => t <? f y)). lia.
Qed.
