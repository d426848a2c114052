(** * The lottery

    [Lottery.draw_one] of [core/kernels/window/integers.py]: an index below T, each with probability exactly
    step/(A·B), or none. A early values of v nearly always decide; B late values of u decide the rest. *)

From Dither Require Export Counting.

(** ** The decision, in numbers *)

Section Decision.
  (** d and r are the quotient and the rest of step by B. *)
  Variables A B T d r : N.

  Definition decide (v u : N) : option N :=
    if v <? T * d then Some (v / d)
    else if v <? A - T then None
    else if u <? r then Some (v - (A - T)) else None.

  Hypothesis fits : T * (d + 1) <= A.
  Hypothesis rest : r < B.

  (** Every index is drawn by exactly step = d·B + r of the A·B pairs of words, and none by all others.
      [f] may be any weight of the outcome, so this is the complete distribution. *)
  Theorem each_ticket_exactly f :
    total (fun v => total (fun u => f (decide v u)) (range B)) (range A)
    = (d * B + r) * total (fun i => f (Some i)) (range T) + (A * B - T * (d * B + r)) * f None.
  Proof.
    assert (S : T * d + T <= A) by lia.
    replace (range A) with (range (T * d + ((A - T - T * d) + T))) by (f_equal; lia).
    rewrite !total_range_add.
    (* v < T·d: the index is v / d, whatever u is *)
    replace (total (fun v => total (fun u => f (decide v u)) (range B)) (range (T * d)))
      with (d * B * total (fun i => f (Some i)) (range T)).
    2:{ rewrite total_range_mul, <- total_scale. apply total_ext. intros i Hi. apply in_range in Hi.
        replace (d * B * f (Some i)) with (d * (B * f (Some i))) by lia.
        rewrite <- total_range_const. apply total_ext. intros j Hj. apply in_range in Hj.
        rewrite <- total_range_const. apply total_ext. intros u _. unfold decide.
        replace (i * d + j <? T * d) with true by (symmetry; apply N.ltb_lt; nia).
        do 2 f_equal. apply (N.div_unique _ _ _ j); lia. }
    (* between: no index *)
    replace (total (fun j => total (fun u => f (decide (T * d + j) u)) (range B)) (range (A - T - T * d)))
      with ((A - T - T * d) * (B * f None)).
    2:{ rewrite <- total_range_const. apply total_ext. intros j Hj. apply in_range in Hj.
        rewrite <- total_range_const. apply total_ext. intros u _. unfold decide.
        replace (T * d + j <? T * d) with false by (symmetry; apply N.ltb_ge; lia).
        replace (T * d + j <? A - T) with true by (symmetry; apply N.ltb_lt; lia). reflexivity. }
    (* the last T values: u decides *)
    match goal with |- _ + (_ + ?last) = _ => replace last
      with (total (fun i => r * f (Some i) + (B - r) * f None) (range T)) end.
    2:{ apply total_ext. intros i Hi. apply in_range in Hi.
        replace (range B) with (range (r + (B - r))) by (f_equal; lia). rewrite total_range_add.
        f_equal; rewrite <- total_range_const; apply total_ext; intros u Hu; apply in_range in Hu; unfold decide.
        all: replace (T * d + (A - T - T * d + i)) with (A - T + i) by lia.
        all: replace (A - T + i <? T * d) with false by (symmetry; apply N.ltb_ge; lia).
        all: replace (A - T + i <? A - T) with false by (symmetry; apply N.ltb_ge; lia).
        - replace (u <? r) with true by (symmetry; apply N.ltb_lt; lia). do 2 f_equal. lia.
        - replace (r + u <? r) with false by (symmetry; apply N.ltb_ge; lia). reflexivity. }
    rewrite total_plus, total_scale, total_range_const.
    set (s := total (fun i => f (Some i)) (range T)).
    replace ((A * B - T * (d * B + r)) * f None)
      with ((A - T - T * d) * (B * f None) + T * ((B - r) * f None)); [lia|].
    assert (T * (B - r) + T * r = T * B) by nia.
    assert (E : (A - T - T * d) * B + T * (B - r) = A * B - T * (d * B + r)) by nia.
    rewrite <- E. lia.
  Qed.

  Lemma steps_fit : T * (d * B + r) <= A * B.
  Proof. nia. Qed.

  Corollary wins_exactly i : i < T ->
    total (fun v => count (fun u => match decide v u with Some j => j =? i | None => false end) (range B)) (range A)
    = d * B + r.
  Proof.
    intros Hi. unfold count.
    rewrite (each_ticket_exactly (fun o => one (match o with Some j => j =? i | None => false end))).
    change (total (fun j => one (j =? i)) (range T)) with (count (fun j => j =? i) (range T)).
    rewrite count_equal by auto. simpl; lia.
  Qed.

  Corollary nothing_exactly :
    total (fun v => count (fun u => match decide v u with Some _ => false | None => true end) (range B)) (range A)
    = A * B - T * (d * B + r).
  Proof.
    unfold count. rewrite (each_ticket_exactly (fun o => one (match o with Some _ => false | None => true end))).
    simpl. rewrite total_range_const. lia.
  Qed.
End Decision.

(** ** The same from bytes *)

(** The next n bytes of a tape, and the others; nothing if there are fewer. *)
Definition take (n : nat) (tape : list N) : option (list N * list N) :=
  if (length tape <? n)%nat then None else Some (firstn n tape, skipn n tape).

Lemma take_app n a z : length a = n -> take n (a ++ z) = Some (a, z).
Proof.
  intros <-. unfold take. rewrite app_length.
  replace (length a + length z <? length a)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
  rewrite firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all. simpl. rewrite app_nil_r. reflexivity.
Qed.

Lemma split_app (n : nat) (a z : list N) : length a = n -> firstn n (a ++ z) = a /\ skipn n (a ++ z) = z.
Proof.
  intros H. pose proof (take_app n a z H) as E. unfold take in E. destruct (_ <? _)%nat; [discriminate|].
  split; congruence.
Qed.

(** Whether the early values have room for all tickets, with one more value for each ([Lottery.fits]). *)
Definition fits (early late : nat) (T step : N) : bool := T * (step / room late + 1) <=? room early.

(** One draw: an index or none, the number of the [more] bytes after it, and the bytes that are left. The late
    bytes come before the [more] ones, though they are taken after them. *)
Definition lottery (early late more : nat) (T step : N) (tape : list N) : option ((option N * N) * list N) :=
  let A := room early in
  let d := step / room late in
  let r := step mod room late in
  match take (early + more) tape with
  | None => None
  | Some (t, others) =>
    let v := value (firstn early t) in
    let e := skipn early t in
    if v <? A - T then Some (if v <? T * d then Some (v / d) else None, value e, others)
    else match take late others with
         | None => None
         | Some (w, others') =>
           let z := e ++ w in
           Some (if value (firstn late z) <? r then Some (v - (A - T)) else None, value (skipn late z), others')
         end
  end.

(** What follows a draw may read [n] bytes of what is left. *)
Definition reads {X} (n : nat) (g : X -> list N -> N) : Prop :=
  forall x a z, length a = n -> g x (a ++ z) = g x a.

Definition after {X} (g : X -> list N -> N) (o : option (X * list N)) : N :=
  match o with Some (x, others) => g x others | None => 0 end.

Lemma total_reads {X} n k (g : X -> list N -> N) x :
  reads n g -> total (g x) (tapes (k + n)) = room k * total (g x) (tapes n).
Proof.
  intros R. rewrite Nat.add_comm, total_tapes_add, <- total_scale. apply total_ext. intros a Ha.
  rewrite (total_ext _ (fun _ => g x a)), total_const, tapes_all; auto.
  intros z _. apply R. apply tapes_length; auto.
Qed.

(** Over all strings of bytes the draw does what [decide] does over all pairs of words, the [more] bytes are
    uniform, and they are independent of the index. *)
Theorem lottery_exactly early late more T step n (g : option N * N -> list N -> N) :
  fits early late T step = true -> reads n g ->
  total (fun tape => after g (lottery early late more T step tape)) (tapes (early + more + late + n))
  = total (fun o => total (fun e => total (g (o, e)) (tapes n)) (range (room more)))
      (flat_map (fun v => map (decide (room early) T (step / room late) (step mod room late) v) (range (room late)))
        (range (room early))).
Proof.
  intros F R. unfold fits in F. apply N.leb_le in F.
  set (A := room early) in *. set (d := step / room late) in *. set (r := step mod room late).
  rewrite total_flat_map.
  set (f := fun o => total (fun e => total (g (o, e)) (tapes n)) (range (room more))).
  change (range A) with (range (room early)).
  rewrite <- (total_tapes_value (fun v => total f (map (decide A T d r v) (range (room late))))).
  rewrite <- !Nat.add_assoc, total_tapes_add. apply total_ext. intros a Ha. apply tapes_length in Ha.
  rewrite total_map. set (v := value a).
  assert (Small : T * d <= A - T) by lia.
  destruct (N.ltb_spec v (A - T)) as [Hv|Hv].
  - (* the early word decides; the late bytes are not taken *)
    rewrite total_tapes_add.
    set (o := if v <? T * d then Some (v / d) else None).
    transitivity (total (fun e => room late * total (g (o, value e)) (tapes n)) (tapes more)).
    + apply total_ext. intros e He. apply tapes_length in He. rewrite <- total_reads by auto.
      apply total_ext. intros z _. unfold lottery. rewrite app_assoc, take_app by (rewrite app_length; lia).
      destruct (split_app early a e Ha) as [-> ->]. fold v A d.
      replace (v <? A - T) with true by (symmetry; apply N.ltb_lt; auto). fold o. reflexivity.
    + rewrite (total_ext (fun u => f (decide A T d r v u)) (fun _ => f o)), total_range_const, total_scale.
      * f_equal. apply (total_tapes_value (fun e => total (g (o, e)) (tapes n))).
      * intros u _. unfold decide, o. replace (v <? A - T) with true by (symmetry; apply N.ltb_lt; auto).
        destruct (v <? T * d); reflexivity.
  - (* the late word decides *)
    rewrite Nat.add_assoc, total_tapes_add.
    rewrite <- (total_tapes_value (fun u => f (decide A T d r v u))).
    rewrite (Nat.add_comm more late), total_tapes_add. apply total_ext. intros w Hw. apply tapes_length in Hw.
    unfold f. rewrite <- (total_tapes_value (fun e => total (g (decide A T d r v (value w), e)) (tapes n))).
    apply total_ext. intros e He. apply tapes_length in He. apply total_ext. intros z _.
    (* the bytes w ++ e, split where the program splits them *)
    assert (Hs : exists e' w', w ++ e = e' ++ w' /\ length e' = more /\ length w' = late).
    { exists (firstn more (w ++ e)), (skipn more (w ++ e)). rewrite firstn_skipn, firstn_length, skipn_length, app_length.
      split; [auto|lia]. }
    destruct Hs as (e' & w' & Es & He' & Hw'). rewrite Es. unfold lottery.
    rewrite <- (app_assoc e' w' z), app_assoc, take_app by (rewrite app_length; lia).
    destruct (split_app early a e' Ha) as [-> ->]. fold v A d r.
    replace (v <? A - T) with false by (symmetry; apply N.ltb_ge; auto).
    rewrite take_app by auto. rewrite <- Es. destruct (split_app late w e Hw) as [-> ->].
    unfold decide. replace (v <? T * d) with false by (symmetry; apply N.ltb_ge; lia).
    replace (v <? A - T) with false by (symmetry; apply N.ltb_ge; auto). reflexivity.
Qed.

(** With the counts of [each_ticket_exactly]. H·L and the window follow from this alone. *)
Corollary lottery_counts early late more T step n g :
  fits early late T step = true -> reads n g ->
  let f o := total (fun e => total (g (o, e)) (tapes n)) (range (room more)) in
  total (fun tape => after g (lottery early late more T step tape)) (tapes (early + more + late + n))
  = step * total (fun i => f (Some i)) (range T) + (room (early + late) - T * step) * f None.
Proof.
  intros F R f. rewrite lottery_exactly, total_flat_map by auto. fold f.
  rewrite (total_ext _ (fun v => total (fun u => f (decide (room early) T (step / room late) (step mod room late) v u)) (range (room late))))
    by (intros; apply total_map).
  pose proof (room_positive late). apply N.leb_le in F.
  pose proof (N.div_mod step (room late)).
  rewrite each_ticket_exactly by (auto; apply N.mod_lt; lia).
  rewrite room_add. replace (step / room late * room late + step mod room late) with step by lia. reflexivity.
Qed.

Lemma lottery_room early late T step : fits early late T step = true -> T * step <= room (early + late).
Proof.
  intros F. apply N.leb_le in F. pose proof (room_positive late).
  pose proof (N.div_mod step (room late)). pose proof (N.mod_lt step (room late)).
  rewrite room_add. replace step with (step / room late * room late + step mod room late) by lia.
  apply steps_fit; [auto|]. apply N.mod_lt; lia.
Qed.
