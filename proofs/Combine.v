(** * Combinations

    What the guarantees of [privacy/guarantee.py] compose by, for lists of equally likely outcomes: mixtures,
    public maps, post-processing, products, adaptive composition, one of several. A ratio a/b bounds each part;
    the parts' ratios multiply, that is, their ε add up. *)

From Dither Require Export Window.

(** An experiment gives the list of its outcomes for every input. *)
Definition private {X Y} (a b : N) (E : X -> list Y) : Prop := forall x x', close a b (E x) (E x').

(** ** Weaker promises *)

Lemma close_refl {Y} a b (l : list Y) : b <= a -> close a b l l.
Proof. intros H P. apply N.mul_le_mono_l; auto. Qed.

(** a/b ≤ a′/b′. *)
Lemma close_weaken {Y} a b a' b' (l m : list Y) : 0 < b -> a * b' <= a' * b -> close a b l m -> close a' b' l m.
Proof.
  intros Hb H C P. specialize (C P). set (c := count P l) in *. set (c' := count P m) in *.
  apply (N.mul_le_mono_pos_r _ _ b); auto.
  apply N.le_trans with (c' * a * b'); [replace (c * b' * b) with (c * b * b') by ring; apply N.mul_le_mono_r; auto|].
  replace (c' * a * b') with (c' * (a * b')) by ring. replace (c' * a' * b) with (c' * (a' * b)) by ring.
  apply N.mul_le_mono_l; auto.
Qed.

(** ** Post-processing: decoding, clipping, sending again *)

Theorem post_processing {X Y Z} a b (E : X -> list Y) (f : Y -> Z) :
  private a b E -> private a b (fun x => map f (E x)).
Proof. intros H x x'. apply close_map, H. Qed.

(** A permanent answer that is sent n times tells no more than one. *)
Corollary permanent_answer {X Y} a b (E : X -> list Y) n :
  private a b E -> private a b (fun x => map (fun y => repeat y n) (E x)).
Proof. apply post_processing. Qed.

(** ** Public maps in front: categories, rounding, hashing *)

Theorem public_map {X Y Z} a b (E : X -> list Y) (h : Z -> X) : private a b E -> private a b (fun z => E (h z)).
Proof. intros H z z'. apply H. Qed.

(** ** Mixtures *)

(** A hidden coin between experiments that are close, coin by coin: a start that is rounded at random. *)
Theorem mixture {C Y} a b (coins : list C) (l m : C -> list Y) :
  (forall c, In c coins -> close a b (l c) (m c)) -> close a b (flat_map l coins) (flat_map m coins).
Proof.
  intros H P. rewrite !count_flat_map, (N.mul_comm _ b), (N.mul_comm _ a), <- !total_scale.
  apply total_le. intros c Hc. specialize (H c Hc P). lia.
Qed.

(** One of several, drawn without looking at the input and told with the report ([Sampled], [Hybrid], the seed
    of [OLH], [Guarantee.either]): as private as the least private of them. *)
Theorem one_of_several {C X Y} a b (coins : list C) (E : C -> X -> list Y) :
  (forall c, In c coins -> private a b (E c)) ->
  private a b (fun x => flat_map (fun c => map (pair c) (E c x)) coins).
Proof. intros H x x'. apply mixture. intros c Hc. apply close_map, H; auto. Qed.

(** ** Composition *)

(** The second experiment may be chosen by the first report: both reports, and every event about both. *)
Definition compose {X Y Z} (E : X -> list Y) (F : Y -> X -> list Z) (x : X) : list (Y * Z) :=
  flat_map (fun y => map (pair y) (F y x)) (E x).

Theorem composition {X Y Z} a b a' b' (E : X -> list Y) (F : Y -> X -> list Z) :
  private a b E -> (forall y, private a' b' (F y)) -> private (a * a') (b * b') (compose E F).
Proof.
  intros HE HF x x' P. unfold compose. rewrite !count_flat_map.
  set (weight := fun z y => count (fun r => P (y, r)) (F y z)).
  assert (W : forall z k, total (fun y => count P (map (pair y) (F y z))) k = total (weight z) k).
  { intros. apply total_ext. intros. apply count_map. }
  rewrite !W.
  apply N.le_trans with (total (weight x') (E x) * b * a').
  - replace (total (weight x) (E x) * (b * b')) with (b * (b' * total (weight x) (E x))) by ring.
    replace (total (weight x') (E x) * b * a') with (b * (a' * total (weight x') (E x))) by ring.
    apply N.mul_le_mono_l. rewrite <- !total_scale. apply total_le. intros y _.
    pose proof (HF y x x' (fun r => P (y, r))). unfold weight. lia.
  - replace (total (weight x') (E x') * (a * a')) with (total (weight x') (E x') * a * a') by ring.
    apply N.mul_le_mono_r. apply (close_total a b); auto.
Qed.

(** The outcomes of both are equally likely if the second has as many for every first report. *)
Lemma compose_length {X Y Z} (E : X -> list Y) (F : Y -> X -> list Z) x n :
  (forall y, length (F y x) = n) -> length (compose E F x) = (length (E x) * n)%nat.
Proof.
  intros H. unfold compose. induction (E x) as [|y l IH]; auto. cbn [flat_map length].
  rewrite app_length, map_length, H, IH. lia.
Qed.

(** t reports, each by an experiment that all earlier reports choose: ε·t. A path, a repeated question, a walk. *)
Fixpoint reports {X Y} (E : list Y -> X -> list Y) (t : nat) (x : X) : list (list Y) :=
  match t with
  | O => [[]]
  | S n => flat_map (fun past => map (fun y => y :: past) (E past x)) (reports E n x)
  end.

Theorem repetition {X Y} a b (E : list Y -> X -> list Y) t :
  (forall past, private a b (E past)) -> private (a ^ N.of_nat t) (b ^ N.of_nat t) (reports E t).
Proof.
  intros H. induction t as [|n IH].
  - intros x x'. apply close_refl. cbn. lia.
  - replace (a ^ N.of_nat (S n)) with (a ^ N.of_nat n * a) by (rewrite Nat2N.inj_succ, N.pow_succ_r'; lia).
    replace (b ^ N.of_nat (S n)) with (b ^ N.of_nat n * b) by (rewrite Nat2N.inj_succ, N.pow_succ_r'; lia).
    intros x x'. pose proof (composition _ _ _ _ _ _ IH H x x') as C.
    apply (close_map _ _ _ _ (fun p : list Y * Y => snd p :: fst p)) in C. unfold compose in C. cbn [reports].
    assert (M : forall z k, map (fun p : list Y * Y => snd p :: fst p) (flat_map (fun past => map (pair past) (E past z)) k)
                = flat_map (fun past => map (fun y => y :: past) (E past z)) k).
    { intros z k. induction k as [|p k IHk]; auto. cbn [flat_map]. rewrite map_app, IHk, map_map. reflexivity. }
    rewrite !M in C. exact C.
Qed.

(** ** Products: independent parts ([Each], a pair, bits) *)

Fixpoint product {Y} (parts : list (list Y)) : list (list Y) :=
  match parts with [] => [[]] | l :: ls => flat_map (fun y => map (cons y) (product ls)) l end.

Definition prod {I} (a : I -> N) (l : list I) : N := fold_right (fun i p => a i * p) 1 l.

(** For two inputs, part i with the ratio a i/b i. *)
Theorem product_private {I Y} (a b : I -> N) (l m : I -> list Y) (parts : list I) :
  (forall i, In i parts -> close (a i) (b i) (l i) (m i)) ->
  close (prod a parts) (prod b parts) (product (map l parts)) (product (map m parts)).
Proof.
  induction parts as [|i parts IH]; intros H; [apply close_refl; cbn; lia|].
  cbn [map product prod fold_right]. fold (prod a parts) (prod b parts).
  assert (C : close (prod a parts) (prod b parts) (product (map l parts)) (product (map m parts)))
    by (apply IH; intros; apply H; right; auto).
  assert (Hi : close (a i) (b i) (l i) (m i)) by (apply H; left; auto).
  set (rest := product (map l parts)) in *. set (rest' := product (map m parts)) in *.
  (* as a composition of two experiments on the inputs true and false *)
  pose proof (fun P => close_total (a i) (b i) _ _ (fun y => count (fun r => P (y :: r)) rest') Hi) as T.
  intros P. rewrite !count_flat_map.
  rewrite (total_ext _ (fun y => count (fun r => P (y :: r)) rest)) by (intros; apply count_map).
  rewrite (total_ext (fun y => count P (map (cons y) rest')) (fun y => count (fun r => P (y :: r)) rest')) by (intros; apply count_map).
  specialize (T P). set (A := prod a parts) in *. set (B := prod b parts) in *.
  apply N.le_trans with (total (fun y => count (fun r => P (y :: r)) rest') (l i) * b i * A).
  - replace (total (fun y => count (fun r => P (y :: r)) rest) (l i) * (b i * B))
      with (b i * (B * total (fun y => count (fun r => P (y :: r)) rest) (l i))) by ring.
    replace (total (fun y => count (fun r => P (y :: r)) rest') (l i) * b i * A)
      with (b i * (A * total (fun y => count (fun r => P (y :: r)) rest') (l i))) by ring.
    apply N.mul_le_mono_l. rewrite <- !total_scale. apply total_le. intros y _. specialize (C (fun r => P (y :: r))). lia.
  - replace (total (fun y => count (fun r => P (y :: r)) rest') (m i) * (a i * A))
      with (total (fun y => count (fun r => P (y :: r)) rest') (m i) * a i * A) by ring.
    apply N.mul_le_mono_r. auto.
Qed.

Lemma prod_mul {I} (a b : I -> N) l : prod (fun i => a i * b i) l = prod a l * prod b l.
Proof. induction l; cbn; auto. fold (prod (fun i => a i * b i) l). rewrite IHl. unfold prod. ring. Qed.

Lemma prod_one x u l : NoDup l -> In x l -> prod (fun i => if i =? x then u else 1) l = u.
Proof.
  intros D H.
  assert (Z : forall k, ~ In x k -> prod (fun i => if i =? x then u else 1) k = 1).
  { induction k as [|y k IH]; intros N0; auto. cbn. fold (prod (fun i => if i =? x then u else 1) k).
    destruct (N.eqb_spec y x); [subst; exfalso; apply N0; left; auto|]. rewrite IH; [reflexivity|].
    intros Hk; apply N0; right; auto. }
  induction l as [|y l IH]; [destruct H|]. inversion D; subst. cbn. fold (prod (fun i => if i =? x then u else 1) l).
  destruct (N.eqb_spec y x).
  - subst. rewrite Z; auto. lia.
  - destruct H; [contradiction|]. rewrite IH; auto. lia.
Qed.

(** *** Independent bits ([Bits]: SUE, OUE)

    Bit i is 1 with probability own/T if i is the answer, and other/T otherwise. *)

Definition coin (heads T : N) : list bool := map (fun v => v <? heads) (range T).

Lemma count_coin P heads T : heads <= T ->
  count P (coin heads T) = heads * one (P true) + (T - heads) * one (P false).
Proof.
  intros H. unfold coin. rewrite count_map. unfold count.
  replace (range T) with (range (heads + (T - heads))) by (f_equal; lia). rewrite total_range_add.
  f_equal; rewrite <- total_range_const; apply total_ext; intros j Hj; apply in_range in Hj.
  - destruct (N.ltb_spec j heads); [reflexivity|lia].
  - destruct (N.ltb_spec (heads + j) heads); [lia|reflexivity].
Qed.

Definition unary (k own other T x : N) : list (list bool) :=
  product (map (fun i => coin (if i =? x then own else other) T) (range k)).

(** Two bits of two answers differ; the ratios of both multiply. *)
Theorem bits_private k own other T x x' : x < k -> x' < k -> x <> x' -> other <= own -> own <= T ->
  close (own * (T - other)) (other * (T - own)) (unary k own other T x) (unary k own other T x').
Proof.
  intros Hx Hx' D O HT.
  set (pa := fun i => (if i =? x then own else 1) * (if i =? x' then T - other else 1)).
  set (pb := fun i => (if i =? x then other else 1) * (if i =? x' then T - own else 1)).
  replace (own * (T - other)) with (prod pa (range k)).
  2:{ unfold pa. rewrite prod_mul, !prod_one; auto using range_different; apply in_range; auto. }
  replace (other * (T - own)) with (prod pb (range k)).
  2:{ unfold pb. rewrite prod_mul, !prod_one; auto using range_different; apply in_range; auto. }
  apply product_private. intros i _ P. unfold pa, pb.
  rewrite !count_coin by (repeat destruct (_ =? _); lia).
  destruct (N.eqb_spec i x), (N.eqb_spec i x'); [subst; contradiction| | |]; unfold one; destruct (P true), (P false); nia.
Qed.
