(** * Tables

    [Alias] of [core/kernels/alias.py]: a row of integer weights is drawn by a uniform column and a coin. The
    table that [_fill] makes draws every outcome with exactly its weight, for all weights. Channels are rows of
    equal sums: their ratio is the largest ratio of two weights of one column. *)

From Coq Require Import Permutation.
From Dither Require Export Window.

(** ** Filling (Vose's method in integers)

    A column holds [threshold] of the weight of outcome [index]; the rest of its capacity C is weight of the
    outcome [other]. What is left of a column is a pair of its index and a weight. *)

Record column := Column { index : N; threshold : N; other : N }.

Definition chosen (c : column) (v : N) : N := if v <? threshold c then index c else other c.

(** The stacks of columns below C and of the others, the last one first. *)
Fixpoint fill (fuel : nat) (C : N) (small large : list (N * N)) : list column :=
  match fuel with
  | O => []
  | S f =>
    match small, large with
    | [], _ => map (fun p => Column (fst p) 0 (fst p)) large
    | (i, a) :: small', (g, b) :: large' =>
      let b' := b - (C - a) in
      Column i a g :: (if b' <? C then fill f C ((g, b') :: small') large' else fill f C small' ((g, b') :: large'))
    | _, [] => []
    end
  end.

Definition remaining (l : list (N * N)) : N := total snd l.
Definition weighed (f : N -> N) (l : list (N * N)) : N := total (fun p => snd p * f (fst p)) l.

Lemma remaining_least C l : (forall p, In p l -> C <= snd p) -> N.of_nat (length l) * C <= remaining l.
Proof.
  unfold remaining. intros H. rewrite <- (total_const C l). apply total_le. auto.
Qed.

(** Columns that are at least full, and full on average, are exactly full. *)
Lemma all_full C l : (forall p, In p l -> C <= snd p) -> remaining l = N.of_nat (length l) * C ->
  forall p, In p l -> snd p = C.
Proof.
  induction l as [|q l IH]; intros H E p; [intros []|].
  assert (R : N.of_nat (length l) * C <= remaining l) by (apply remaining_least; intros; apply H; right; auto).
  assert (Q : C <= snd q) by (apply H; left; auto).
  unfold remaining in *. cbn [total length] in E. rewrite Nat2N.inj_succ in E.
  intros [<-|Hp]; [nia|]. apply IH; auto; [intros; apply H; right; auto|nia].
Qed.

Lemma total_chosen f C i a g : a <= C -> total (fun v => f (chosen (Column i a g) v)) (range C) = a * f i + (C - a) * f g.
Proof.
  intros H. replace (range C) with (range (a + (C - a))) by (f_equal; lia). rewrite total_range_add.
  f_equal; rewrite <- total_range_const; apply total_ext; intros v Hv; apply in_range in Hv; unfold chosen; cbn.
  - destruct (N.ltb_spec v a); [reflexivity|lia].
  - destruct (N.ltb_spec (a + v) a); [lia|reflexivity].
Qed.

(** Every outcome has exactly its weight, and every column is settled once. *)
Theorem fill_exactly fuel C small large :
  (length small + length large < fuel)%nat ->
  (forall p, In p small -> snd p < C) -> (forall p, In p large -> C <= snd p) ->
  remaining small + remaining large = N.of_nat (length small + length large) * C ->
  (forall f, total (fun c => total (fun v => f (chosen c v)) (range C)) (fill fuel C small large)
             = weighed f small + weighed f large)
  /\ Permutation (map index (fill fuel C small large)) (map fst (small ++ large)).
Proof.
  revert small large. induction fuel as [|fuel IH]; intros small large Hf Hs Hl E; [lia|].
  destruct small as [|[i a] small].
  - cbn [fill]. split.
    + intros f. rewrite total_map. unfold weighed at 1. cbn [total]. rewrite N.add_0_l. unfold weighed.
      apply total_ext. intros [g b] Hp. cbn [fst snd]. rewrite total_chosen by lia.
      unfold remaining at 1 in E. cbn in E.
      rewrite (all_full C large Hl E (g, b) Hp : b = C). lia.
    + rewrite map_map. cbn. apply Permutation_refl.
  - destruct large as [|[g b] large].
    + exfalso. unfold remaining in E. cbn [total length] in E. rewrite N.add_0_r, Nat.add_0_r in E.
      assert (a < C) by (apply (Hs (i, a)); left; auto).
      assert (L : total snd small <= N.of_nat (length small) * C).
      { rewrite <- total_const. apply total_le. intros p Hp. assert (snd p < C) by (apply Hs; right; auto). lia. }
      cbn [snd] in E. nia.
    + assert (Ha : a < C) by (apply (Hs (i, a)); left; auto).
      assert (Hb : C <= b) by (apply (Hl (g, b)); left; auto).
      set (b' := b - (C - a)). assert (Hb' : b' + (C - a) = b) by lia.
      cbn [fill]. fold b'. cbn [length] in Hf.
      unfold remaining in E. cbn [total length snd] in E.
      destruct (N.ltb_spec b' C) as [K|K].
      * destruct (IH ((g, b') :: small) large) as [T Pm]; [cbn [length]; lia| | | |].
        { intros p [<-|Hp]; auto. apply Hs; right; auto. }
        { intros p Hp. apply Hl; right; auto. }
        { unfold remaining. cbn [total length snd]. lia. }
        split.
        -- intros f. cbn [total]. rewrite total_chosen, T by lia. unfold weighed. cbn [total fst snd]. nia.
        -- cbn [map index app fst]. constructor. apply Permutation_trans with (1 := Pm).
           cbn [map app fst]. rewrite !map_app. cbn [map fst]. apply Permutation_middle.
      * destruct (IH small ((g, b') :: large)) as [T Pm]; [cbn [length]; lia| | | |].
        { intros p Hp. apply Hs; right; auto. }
        { intros p [<-|Hp]; auto. apply Hl; right; auto. }
        { unfold remaining. cbn [total length snd]. lia. }
        split.
        -- intros f. cbn [total]. rewrite total_chosen, T by lia. unfold weighed. cbn [total fst snd]. nia.
        -- cbn [map index app fst]. constructor. apply Permutation_trans with (1 := Pm).
           rewrite !map_app. reflexivity.
Qed.

(** ** The table of a row *)

Definition numbered (row : list N) : list (N * N) := combine (range (N.of_nat (length row))) row.

(** [row] has 2^b weights of the total 2^b·C. *)
Definition table (C : N) (row : list N) : list column :=
  fill (S (length row)) C
    (rev (filter (fun p => snd p <? C) (numbered row))) (rev (filter (fun p => negb (snd p <? C)) (numbered row))).

Lemma total_permutation {X} (f : X -> N) l m : Permutation l m -> total f l = total f m.
Proof. induction 1; cbn; lia. Qed.

Lemma total_filter {X} (f : X -> N) (P : X -> bool) l :
  total f (filter P l) + total f (filter (fun x => negb (P x)) l) = total f l.
Proof. induction l as [|x l IH]; cbn; auto. destruct (P x); cbn; lia. Qed.

Lemma length_filter {X} (P : X -> bool) l :
  (length (filter P l) + length (filter (fun x => negb (P x)) l))%nat = length l.
Proof. induction l as [|x l IH]; cbn; auto. destruct (P x); cbn; lia. Qed.

Lemma numbered_parts row : map fst (numbered row) = range (N.of_nat (length row)) /\ map snd (numbered row) = row.
Proof.
  unfold numbered. assert (L : length (range (N.of_nat (length row))) = length row) by (rewrite range_length; lia).
  revert L. generalize (range (N.of_nat (length row))) as l. induction row as [|w row IH]; intros [|x l] L; try discriminate; auto.
  cbn in *. destruct (IH l) as [A B]; [lia|]. rewrite A, B. auto.
Qed.

(** The weight that a row gives to an event. *)
Definition mass (f : N -> N) (row : list N) : N := weighed f (numbered row).

Lemma mass_total row : mass (fun _ => 1) row = total (fun w => w) row.
Proof.
  unfold mass, weighed. rewrite <- (proj2 (numbered_parts row)) at 2. rewrite total_map. apply total_ext. intros; lia.
Qed.

Theorem table_exactly C row : total (fun w => w) row = N.of_nat (length row) * C ->
  (forall f, total (fun c => total (fun v => f (chosen c v)) (range C)) (table C row) = mass f row)
  /\ Permutation (map index (table C row)) (range (N.of_nat (length row))).
Proof.
  intros E. unfold table. set (P := fun p : N * N => snd p <? C). set (l := numbered row).
  assert (Len : length l = length row) by (rewrite <- (map_length snd l); unfold l; rewrite (proj2 (numbered_parts row)); auto).
  destruct (fill_exactly (S (length row)) C (rev (filter P l)) (rev (filter (fun p => negb (P p)) l))) as [T Pm].
  - rewrite !rev_length, length_filter. lia.
  - intros p Hp. apply in_rev, filter_In in Hp as [_ Hp]. apply N.ltb_lt; auto.
  - intros p Hp. apply in_rev, filter_In in Hp as [_ Hp]. apply negb_true_iff, N.ltb_ge in Hp; auto.
  - rewrite !rev_length, length_filter, Len, <- E. unfold remaining.
    rewrite !(total_permutation snd (rev _) _ (Permutation_sym (Permutation_rev _))), total_filter.
    transitivity (total (fun w => w) (map snd l)); [rewrite total_map; reflexivity|].
    unfold l. rewrite (proj2 (numbered_parts row)). reflexivity.
  - split.
    + intros f. rewrite T. unfold mass, weighed. fold l.
      rewrite !(total_permutation _ (rev _) _ (Permutation_sym (Permutation_rev _))). apply total_filter.
    + apply Permutation_trans with (1 := Pm). rewrite <- (proj1 (numbered_parts row)). apply Permutation_map. fold l.
      apply Permutation_trans with (filter P l ++ filter (fun p => negb (P p)) l).
      * apply Permutation_app; apply Permutation_sym, Permutation_rev.
      * clear. induction l as [|x l IH]; cbn; auto. destruct (P x); cbn.
        -- constructor; auto.
        -- apply Permutation_sym, Permutation_cons_app, Permutation_sym; auto.
Qed.

(** ** The draw, from bytes ([Alias.draw_one]) *)

Definition lookup (t : list column) (i : N) : column :=
  match find (fun c => index c =? i) t with Some c => c | None => Column i 0 i end.

Lemma total_lookup g t : NoDup (map index t) -> total (fun i => g (lookup t i)) (map index t) = total g t.
Proof.
  rewrite total_map. intros D. apply total_ext. intros c Hc. f_equal. unfold lookup.
  destruct (find (fun d => index d =? index c) t) as [d|] eqn:E.
  - apply find_some in E as [Hd Ed]. apply N.eqb_eq in Ed.
    clear - D Hc Hd Ed. induction t as [|x t IH]; [destruct Hc|]. inversion D; subst.
    destruct Hc as [->|Hc], Hd as [->|Hd]; auto.
    + exfalso. apply H1. rewrite <- Ed. apply in_map; auto.
    + exfalso. apply H1. rewrite Ed. apply in_map; auto.
  - exfalso. pose proof (find_none _ _ E c Hc) as F. cbn in F. rewrite N.eqb_refl in F. discriminate.
Qed.

(** A column of b bits and a coin of c bits. *)
Definition alias (b c : N) (t : list column) (tape : list N) : option (N * list N) :=
  match take (bytes_of b) tape with
  | None => None
  | Some (x, others) =>
    match take (bytes_of c) others with
    | None => None
    | Some (y, others') => Some (chosen (lookup t (highest b (value x))) (highest c (value y)), others')
    end
  end.

Definition alias_bytes (b c : N) : nat := bytes_of b + bytes_of c.

(** How many strings stand for one column and one value of the coin. *)
Definition spare (bits : N) : N := 2 ^ (8 * N.of_nat (bytes_of bits) - bits).

Theorem alias_exactly b c row P :
  N.of_nat (length row) = 2 ^ b -> total (fun w => w) row = 2 ^ b * 2 ^ c ->
  count (happens P) (outcomes (alias b c (table (2 ^ c) row)) (alias_bytes b c))
  = spare b * spare c * mass (fun j => one (P j)) row.
Proof.
  intros L E. destruct (table_exactly (2 ^ c) row) as [T Pm]; [rewrite L; auto|]. set (t := table (2 ^ c) row) in *.
  rewrite count_outcomes. unfold alias_bytes. rewrite total_tapes_add.
  set (g := fun i => total (fun v => one (P (chosen (lookup t i) v))) (range (2 ^ c))).
  transitivity (total (fun x => spare c * g (highest b (value x))) (tapes (bytes_of b))).
  - apply total_ext. intros x Hx. apply tapes_length in Hx. unfold g, spare.
    rewrite <- (total_highest (fun v => one (P (chosen (lookup t (highest b (value x))) v))) c).
    rewrite <- (total_tapes_value (fun v => one (P (chosen (lookup t (highest b (value x))) (highest c v))))).
    apply total_ext. intros y Hy. apply tapes_length in Hy. unfold alias. rewrite take_app by auto.
    rewrite <- (app_nil_r y), take_app by auto. rewrite app_nil_r. reflexivity.
  - rewrite total_scale, (total_tapes_value (fun v => g (highest b v))), total_highest. fold (spare b).
    rewrite <- T, <- L, <- (total_permutation g _ _ Pm).
    rewrite <- (total_lookup (fun d => total (fun v => one (P (chosen d v))) (range (2 ^ c))) t); [unfold g; lia|].
    apply (Permutation_NoDup (Permutation_sym Pm)), range_different.
Qed.

(** ** Rows of equal sums ([Channel], tables, lattices)

    A row for every input. A lattice is such a table, too: the weights of its noise, moved and clamped. *)

(** Whether no weight of the first row is more than a/b times that of the second. *)
Fixpoint dominated (a b : N) (row row' : list N) : bool :=
  match row, row' with
  | [], [] => true
  | w :: r, w' :: r' => (w * b <=? w' * a) && dominated a b r r'
  | _, _ => false
  end.

Lemma dominated_mass a b f row row' : dominated a b row row' = true -> mass f row * b <= mass f row' * a.
Proof.
  intros D. assert (L : length row = length row').
  { revert row' D. induction row as [|w r IH]; intros [|w' r'] D; try discriminate; auto.
    cbn in *. apply andb_prop in D as [_ D]. f_equal. auto. }
  unfold mass, numbered, weighed. rewrite L. generalize (range (N.of_nat (length row'))) as l.
  clear L. revert row' D. induction row as [|w r IH]; intros [|w' r'] D [|x l]; try discriminate; cbn [combine total]; try lia.
  cbn [dominated] in D. apply andb_prop in D as [W D]. apply N.leb_le in W. specialize (IH r' D l). cbn [fst snd].
  assert (w * f x * b <= w' * f x * a) by (replace (w * f x * b) with (f x * (w * b)) by ring;
    replace (w' * f x * a) with (f x * (w' * a)) by ring; apply N.mul_le_mono_l; auto). lia.
Qed.

Theorem alias_private a b' b c row row' :
  b' <= a -> dominated a b' row row' = true ->
  N.of_nat (length row) = 2 ^ b -> N.of_nat (length row') = 2 ^ b ->
  total (fun w => w) row = 2 ^ b * 2 ^ c -> total (fun w => w) row' = 2 ^ b * 2 ^ c ->
  close a b' (outcomes (alias b c (table (2 ^ c) row)) (alias_bytes b c))
             (outcomes (alias b c (table (2 ^ c) row')) (alias_bytes b c)).
Proof.
  intros Hab D L L' E E'. apply close_option; [auto|apply outcomes_length| |].
  - unfold some. rewrite !alias_exactly by auto. cbn [one]. rewrite !mass_total, E, E'. reflexivity.
  - intros P. rewrite !alias_exactly by auto. rewrite <- !N.mul_assoc. do 2 apply N.mul_le_mono_l.
    apply dominated_mass; auto.
Qed.
