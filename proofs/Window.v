(** * Windows

    [Sliding], [Nearest] and [Blocks] of [core/kernels/window/integers.py]. A window is any K different cells
    of N. The lottery decides between a uniform cell of the window and a uniform cell of all, so a cell inside
    has the weight H = N·step + L and any other the weight L = 2^bits − K·step. Nothing is asked about which K
    cells they are: sliding, wrapped, nearest, listed, chosen by floats, or only one. *)

From Dither Require Export Lottery.

(** ** Outcomes of a draw from bytes *)

Definition outcomes {X} (draw : list N -> option (X * list N)) (n : nat) : list (option X) :=
  map (fun tape => option_map fst (draw tape)) (tapes n).

(** The bytes that are sent, [width] of them for a report. *)
Definition messages (width : nat) (draw : list N -> option (N * list N)) (n : nat) : list (option (list N)) :=
  map (option_map (message width)) (outcomes draw n).

Definition happens {X} (P : X -> bool) (o : option X) : bool :=
  match o with Some x => P x | None => false end.

Definition some {X} (o : option X) : bool := happens (fun _ => true) o.

Lemma count_outcomes {X} (P : X -> bool) draw n :
  count (happens P) (outcomes draw n) = total (fun tape => after (fun x _ => one (P x)) (draw tape)) (tapes n).
Proof.
  unfold outcomes. rewrite count_map. apply total_ext. intros t _. destruct (draw t) as [[x z]|]; reflexivity.
Qed.

(** Events may be about the missing of a report, too: it must be as likely for both inputs. *)
Lemma close_option {X} a b (l m : list (option X)) :
  b <= a -> length l = length m -> count some l = count some m ->
  (forall P, count (happens P) l * b <= count (happens P) m * a) -> close a b l m.
Proof.
  intros Hab Hl Hs H P.
  assert (E : forall k, count P k = count (happens (fun x => P (Some x))) k + one (P None) * (N.of_nat (length k) - count some k)).
  { intros k. pose proof (count_not some k) as Hn.
    replace (N.of_nat (length k) - count some k) with (count (fun o => negb (some o)) k) by lia.
    unfold count. rewrite <- total_scale, <- total_plus. apply total_ext. intros [x|] _; cbn.
    - destruct (P (Some x)), (P None); reflexivity.
    - destruct (P None); reflexivity. }
  rewrite (E l), (E m), Hl, Hs. specialize (H (fun x => P (Some x))).
  set (z := one (P None) * _). nia.
Qed.

(** Post-processing, such as writing a report as bytes or decoding it, keeps what is promised. *)
Lemma close_map {X Y} a b (l m : list X) (f : X -> Y) : close a b l m -> close a b (map f l) (map f m).
Proof. intros C P. rewrite !count_map. apply (C (fun x => P (f x))). Qed.

Lemma outcomes_length {X} (draw draw' : list N -> option (X * list N)) n :
  length (outcomes draw n) = length (outcomes draw' n).
Proof. unfold outcomes. rewrite !map_length. reflexivity. Qed.

(** ** The window *)

Definition outside (early late : nat) (K step : N) : N := room (early + late) - K * step.
Definition inside (early late : nat) (n K step : N) : N := n * step + outside early late K step.

(** A list of different numbers below n: the two checks that a device makes of a window. *)
Fixpoint different (n : N) (w : list N) : bool :=
  match w with
  | [] => true
  | x :: t => (x <? n) && negb (existsb (N.eqb x) t) && different n t
  end.

Lemma different_sound n w : different n w = true -> NoDup w /\ incl w (range n).
Proof.
  induction w as [|x w IH]; cbn [different]; intros H; [split; [constructor|intros ? []]|].
  apply andb_prop in H as [H Hw]. apply andb_prop in H as [Hx Hn]. destruct (IH Hw) as [D I].
  apply N.ltb_lt in Hx. split.
  - constructor; auto. intros Hin. apply negb_true_iff in Hn. rewrite <- Bool.not_true_iff_false in Hn.
    apply Hn. apply existsb_exists. exists x. rewrite N.eqb_refl. auto.
  - intros y [<-|Hy]; auto. apply in_range; auto.
Qed.

(** The weights of an event: H of each of its cells in the window, and L of each other. [q] is how many words
    stand for one cell in the uniform draw. *)
Definition weight (early late : nat) (n K step q : N) (w : list N) (P : N -> bool) : N :=
  q * (n * step * count P w + outside early late K step * count P (range n)).

Lemma weight_bounds early late n K step q w P :
  NoDup w -> incl w (range n) ->
  let s := q * count P (range n) in
  outside early late K step * s <= weight early late n K step q w P <= inside early late n K step * s.
Proof.
  intros D I s. pose proof (count_different P w (range n) D I). unfold weight, inside, s.
  set (L := outside _ _ _ _). split; [nia|].
  assert (n * step * count P w <= n * step * count P (range n)) by (apply N.mul_le_mono_l; auto). nia.
Qed.

(** A cell of the window has the weight H, any other cell the weight L. *)
Theorem inside_exactly early late n K step w y :
  NoDup w -> incl w (range n) -> In y w -> weight early late n K step 1 w (fun c => c =? y) = inside early late n K step.
Proof.
  intros D I Hy. unfold weight, inside. rewrite count_equal by (apply in_range; auto).
  replace (count (fun c => c =? y) w) with 1; [lia|]. apply N.le_antisymm.
  - unfold count. destruct (in_split _ _ Hy) as (a & b & E). rewrite E.
    rewrite total_app. cbn [total]. rewrite N.eqb_refl. cbn [one]. lia.
  - rewrite <- (count_equal y n) by (apply in_range; auto). apply count_different; auto.
Qed.

Theorem outside_exactly early late n K step w y :
  y < n -> ~ In y w -> weight early late n K step 1 w (fun c => c =? y) = outside early late K step.
Proof.
  intros Hy Hn. unfold weight. rewrite count_equal by auto.
  replace (count (fun c => c =? y) w) with 0; [lia|].
  induction w as [|x w IH]; [reflexivity|]. unfold count in *. cbn [total]. rewrite <- IH by (intro; apply Hn; right; auto).
  destruct (N.eqb_spec x y); [subst; exfalso; apply Hn; left; auto|reflexivity].
Qed.

Lemma weight_all early late n K step q w :
  fits early late K step = true -> N.of_nat (length w) = K ->
  weight early late n K step q w (fun _ => true) = q * n * room (early + late).
Proof.
  intros F Hw. apply lottery_room in F. unfold weight, outside, count. cbn [one].
  rewrite total_const, total_range_const, Hw.
  set (R := room (early + late)) in *. set (L := R - K * step). replace R with (L + K * step) by lia. ring.
Qed.

(** Any two windows, and any mixtures of as many windows, differ by H/L at most. *)
Lemma weights_close {C} early late n K step q (w w' : C -> list N) P l :
  (forall c, NoDup (w c) /\ incl (w c) (range n)) -> (forall c, NoDup (w' c) /\ incl (w' c) (range n)) ->
  total (fun c => weight early late n K step q (w c) P) l * outside early late K step
  <= total (fun c => weight early late n K step q (w' c) P) l * inside early late n K step.
Proof.
  intros Hw Hw'. rewrite (N.mul_comm _ (outside _ _ _ _)), (N.mul_comm _ (inside _ _ _ _ _)), <- !total_scale.
  apply total_le. intros c _. destruct (Hw c) as [D I], (Hw' c) as [D' I'].
  pose proof (weight_bounds early late n K step q (w c) P D I) as [_ U].
  pose proof (weight_bounds early late n K step q (w' c) P D' I') as [V _]. cbv zeta in *.
  set (s := q * count P (range n)) in *. set (H := inside _ _ _ _ _) in *. set (L := outside _ _ _ _) in *. nia.
Qed.

(** ** N = 2^k cells

    The window may come from [coins] random bytes by any rule: a constant, a start rounded at random, a table. *)

Definition bytes_of (bits : N) : nat := N.to_nat ((bits + 7) / 8).

(** The highest [bits] bits of a number of ⌈bits/8⌉ bytes ([Source.bits]). *)
Definition highest (bits v : N) : N := v / 2 ^ (8 * N.of_nat (bytes_of bits) - bits).

Lemma bytes_enough bits : bits <= 8 * N.of_nat (bytes_of bits).
Proof.
  unfold bytes_of. rewrite N2Nat.id. pose proof (N.div_mod (bits + 7) 8). pose proof (N.mod_lt (bits + 7) 8). lia.
Qed.

Lemma room_bits bits : room (bytes_of bits) = 2 ^ bits * 2 ^ (8 * N.of_nat (bytes_of bits) - bits).
Proof.
  pose proof (bytes_enough bits). unfold room. change 256 with (2 ^ 8). rewrite <- N.pow_mul_r, <- N.pow_add_r.
  f_equal. lia.
Qed.

Lemma total_highest f bits :
  total (fun v => f (highest bits v)) (range (room (bytes_of bits)))
  = 2 ^ (8 * N.of_nat (bytes_of bits) - bits) * total f (range (2 ^ bits)).
Proof. rewrite room_bits. apply total_high. Qed.

(** The cell of index i of the window is [cell c i], c the bytes of the coins. *)
Definition mixed (early late : nat) (k K step : N) (coins : nat) (cell : list N -> N -> N) (tape : list N)
  : option (N * list N) :=
  match take coins tape with
  | None => None
  | Some (c, others) =>
    match lottery early late (bytes_of k) K step others with
    | None => None
    | Some ((o, e), others') => Some (match o with Some i => cell c i | None => highest k e end, others')
    end
  end.

Definition mixed_bytes (early late : nat) (k : N) (coins : nat) : nat := coins + (early + bytes_of k + late + 0).

Theorem mixed_counts early late k K step coins cell P :
  fits early late K step = true ->
  count (happens P) (outcomes (mixed early late k K step coins cell) (mixed_bytes early late k coins))
  = total (fun c => weight early late (2 ^ k) K step (2 ^ (8 * N.of_nat (bytes_of k) - k)) (map (cell c) (range K)) P)
      (tapes coins).
Proof.
  intros F. rewrite count_outcomes. unfold mixed_bytes. rewrite total_tapes_add.
  apply total_ext. intros c Hc. apply tapes_length in Hc.
  set (report := fun o e => match o with Some i => cell c i | None => highest k e end).
  set (g := fun (p : option N * N) (_ : list N) => one (P (report (fst p) (snd p)))).
  rewrite (total_ext _ (fun tape => after g (lottery early late (bytes_of k) K step tape))).
  2:{ intros t _. unfold mixed. rewrite take_app by auto.
      destruct (lottery early late (bytes_of k) K step t) as [[[o e] z]|]; reflexivity. }
  rewrite (lottery_counts early late (bytes_of k) K step 0 g) by (auto; intros ? ? ? _; reflexivity).
  unfold g, weight, outside, count. cbn [tapes total fst snd]. rewrite total_map.
  set (q := 2 ^ (8 * N.of_nat (bytes_of k) - k)). set (L := room (early + late) - K * step).
  set (s := total (fun i => one (P (cell c i))) (range K)).
  replace (total (fun i => total (fun e => one (P (report (Some i) e)) + 0) (range (room (bytes_of k)))) (range K))
    with (2 ^ k * q * s).
  2:{ unfold s. rewrite <- total_scale. apply total_ext. intros i _. cbn [report]. rewrite total_range_const, room_bits.
      fold q. lia. }
  replace (total (fun e => one (P (report None e)) + 0) (range (room (bytes_of k))))
    with (q * total (fun x => one (P x)) (range (2 ^ k))).
  2:{ unfold q. rewrite <- (total_highest (fun x => one (P x)) k). apply total_ext. intros e _. cbn [report]. lia. }
  lia.
Qed.

(** [cell] selects K different cells for all coins. *)
Definition selects (k K : N) (cell : list N -> N -> N) : Prop :=
  forall c, NoDup (map (cell c) (range K)) /\ incl (map (cell c) (range K)) (range (2 ^ k)).

(** For any two rules that select K different cells, that is, for any two values, no event about the report is
    more than H/L times likelier. The rule may round at random: a mixture of windows keeps the promise. *)
Theorem mixed_private early late k K step coins cell cell' :
  fits early late K step = true -> selects k K cell -> selects k K cell' ->
  close (inside early late (2 ^ k) K step) (outside early late K step)
    (outcomes (mixed early late k K step coins cell) (mixed_bytes early late k coins))
    (outcomes (mixed early late k K step coins cell') (mixed_bytes early late k coins)).
Proof.
  intros F S S'. apply close_option; [unfold inside; lia|apply outcomes_length| |].
  - unfold some. rewrite !mixed_counts by auto. apply total_ext. intros c _.
    rewrite !weight_all; auto; rewrite map_length, range_length; lia.
  - intros P. rewrite !mixed_counts by auto. apply weights_close; auto.
Qed.

(** A rule that adds the index to a start, modulo m ≥ K, and shifts by z. *)
Lemma turned_different m n K a z : K <= m -> z + m <= n ->
  NoDup (map (fun i => z + (a + i) mod m) (range K)) /\ incl (map (fun i => z + (a + i) mod m) (range K)) (range n).
Proof.
  intros HK Hm. destruct (N.eq_dec K 0) as [->|NK].
  { change (range 0) with (@nil N). split; [constructor|intros ? []]. }
  assert (Z : m <> 0) by lia. split.
  - assert (I : forall l, NoDup l -> incl l (range K) -> NoDup (map (fun i => z + (a + i) mod m) l)).
    { induction l as [|x l IH]; intros D S; [constructor|]. inversion D; subst. cbn [map]. constructor.
      - intros Hin. apply in_map_iff in Hin as (y & E & Hy).
        assert (x < K) by (apply in_range, S; left; auto). assert (y < K) by (apply in_range, S; right; auto).
        assert (x = y); [|subst; contradiction]. apply N.add_cancel_l in E.
        pose proof (N.div_mod (a + x) m Z). pose proof (N.div_mod (a + y) m Z).
        pose proof (N.mod_lt (a + x) m Z). rewrite E in *.
        assert ((a + x) / m = (a + y) / m) by nia. nia.
      - apply IH; auto. intros y Hy. apply S. right; auto. }
    apply I; [apply range_different|apply incl_refl].
  - intros y Hy. apply in_map_iff in Hy as (i & <- & _). apply in_range.
    pose proof (N.mod_lt (a + i) m Z). lia.
Qed.

(** [Sliding.draw_one]: the window wraps around all N = 2^k cells. *)
Definition wrapped (k : N) (start : list N -> N) (c : list N) (i : N) : N := (start c + i) mod 2 ^ k.

Definition sliding early late k K step coins start := mixed early late k K step coins (wrapped k start).

Lemma wrapped_selects k K start : K <= 2 ^ k -> selects k K (wrapped k start).
Proof. intros H c. apply (turned_different (2 ^ k) (2 ^ k) K (start c) 0); lia. Qed.

(** Sliding and wrapped windows, k-RR by K = 1, starts by any rule. *)
Theorem sliding_private early late k K step coins start start' :
  fits early late K step = true -> K <= 2 ^ k ->
  close (inside early late (2 ^ k) K step) (outside early late K step)
    (outcomes (sliding early late k K step coins start) (mixed_bytes early late k coins))
    (outcomes (sliding early late k K step coins start') (mixed_bytes early late k coins)).
Proof. intros F H. apply mixed_private; auto using wrapped_selects. Qed.

(** [OptionalKernel.draw_one]: the first N − K cells are for numbers, the last K for no answer. *)
Definition optional_cell (k K : N) (answered : bool) (start : list N -> N) (c : list N) (i : N) : N :=
  if answered then (start c + i) mod (2 ^ k - K) else 2 ^ k - K + i.

Definition optional early late k K step coins answered start :=
  mixed early late k K step coins (optional_cell k K answered start).

Lemma optional_selects k K answered start : 2 * K <= 2 ^ k -> selects k K (optional_cell k K answered start).
Proof.
  intros H c. unfold optional_cell. destruct answered.
  - apply (turned_different (2 ^ k - K) (2 ^ k) K (start c) 0); lia.
  - destruct (turned_different K (2 ^ k) K 0 (2 ^ k - K)) as [D I]; [lia|lia|].
    assert (E : map (fun i => 2 ^ k - K + (0 + i) mod K) (range K) = map (fun i => 2 ^ k - K + i) (range K)).
    { apply map_ext_in. intros i Hi. apply in_range in Hi. rewrite N.add_0_l, N.mod_small; auto. }
    rewrite <- E. auto.
Qed.

(** A number, another number or no answer: all the same. *)
Theorem optional_private early late k K step coins answered answered' start start' :
  fits early late K step = true -> 2 * K <= 2 ^ k ->
  close (inside early late (2 ^ k) K step) (outside early late K step)
    (outcomes (optional early late k K step coins answered start) (mixed_bytes early late k coins))
    (outcomes (optional early late k K step coins answered' start') (mixed_bytes early late k coins)).
Proof. intros F H. apply mixed_private; auto using optional_selects. Qed.

(** A start in units of 2^−f cells, rounded at random by f bits ([LineStart.draw_one]). *)
Definition line_start (f aim : N) (coins : list N) : N := (aim + highest f (value coins)) / 2 ^ f.

(** A table of knots, rounded twice ([KnotStart.draw_one]). *)
Definition knot_start (entry : N -> N) (place : N) (coins : list N) : N :=
  let u := value (firstn 2 coins) in
  (entry ((place + u) / 2 ^ 16) + value (skipn 2 coins)) / 2 ^ 16.

(** ** A uniform number by rejection ([Source.below]), with fuel *)

Definition digits (n : N) : N := N.size (n - 1).

Fixpoint below (fuel : nat) (n : N) (tape : list N) : option (N * list N) :=
  match fuel with
  | O => None
  | S f =>
    match take (bytes_of (digits n)) tape with
    | None => None
    | Some (t, others) =>
      let x := highest (digits n) (value t) in
      if x <? n then Some (x, others) else below f n others
    end
  end.

(** How many of the strings of [fuel] tries give one number below n: as many for each. *)
Fixpoint ways (fuel : nat) (n : N) : N :=
  match fuel with
  | O => 0
  | S f => 2 ^ (8 * N.of_nat (bytes_of (digits n)) - digits n)
           * (room (f * bytes_of (digits n)) + (2 ^ digits n - n) * ways f n)
  end.

Lemma digits_enough n : n <= 2 ^ digits n.
Proof. unfold digits. pose proof (N.size_gt (n - 1)). lia. Qed.

Lemma below_prefix fuel n a z : length a = (fuel * bytes_of (digits n))%nat ->
  option_map fst (below fuel n (a ++ z)) = option_map fst (below fuel n a).
Proof.
  revert a. induction fuel as [|f IH]; intros a Ha; [reflexivity|]. cbn [below].
  set (b := bytes_of (digits n)) in *. rewrite <- (firstn_skipn b a).
  assert (Hf : length (firstn b a) = b) by (rewrite firstn_length; lia).
  rewrite <- app_assoc, !take_app by auto.
  match goal with |- context [if ?b then _ else _] => destruct b end; [reflexivity|].
  apply IH. rewrite skipn_length. lia.
Qed.

(** Every number below n is drawn by as many strings; the others need more tries. *)
Theorem below_exactly fuel n f :
  total (fun tape => after (fun x _ => f x) (below fuel n tape)) (tapes (fuel * bytes_of (digits n)))
  = ways fuel n * total f (range n).
Proof.
  induction fuel as [|fuel IH]; [reflexivity|]. cbn [Nat.mul ways]. set (b := bytes_of (digits n)) in *.
  set (q := 2 ^ (8 * N.of_nat b - digits n)).
  rewrite total_tapes_add.
  set (h := fun x => if x <? n then room (fuel * b) * f x else ways fuel n * total f (range n)).
  transitivity (total (fun a => h (highest (digits n) (value a))) (tapes b)).
  - apply total_ext. intros a Ha. apply tapes_length in Ha. unfold h. cbn [below].
    rewrite <- IH, <- tapes_all. fold b.
    destruct (highest (digits n) (value a) <? n) eqn:E.
    + rewrite <- total_const. apply total_ext. intros z _. rewrite take_app, E by auto. reflexivity.
    + apply total_ext. intros z _. rewrite take_app, E by auto. reflexivity.
  - rewrite (total_tapes_value (fun v => h (highest (digits n) v))), total_highest. fold b q.
    replace (2 ^ digits n) with (n + (2 ^ digits n - n)) by (pose proof (digits_enough n); lia).
    rewrite total_range_add.
    replace (total h (range n)) with (room (fuel * b) * total f (range n)).
    2:{ rewrite <- total_scale. apply total_ext. intros x Hx. apply in_range in Hx. unfold h.
        destruct (N.ltb_spec x n); lia. }
    rewrite (total_ext (fun j => h (n + j)) (fun _ => ways fuel n * total f (range n))), total_range_const.
    2:{ intros x _. unfold h. destruct (N.ltb_spec (n + x) n); lia. }
    replace (n + (2 ^ digits n - n) - n) with (2 ^ digits n - n) by lia. lia.
Qed.

(** ** Nearest and listing: any K different numbers below n *)

(** Entry number i of a list. *)
Fixpoint pick (w : list N) (i : N) : N :=
  match w with [] => 0 | x :: t => if i =? 0 then x else pick t (i - 1) end.

Lemma total_pick f w : total (fun i => f (pick w i)) (range (N.of_nat (length w))) = total f w.
Proof.
  induction w as [|x w IH]; [reflexivity|]. cbn [length total].
  replace (N.of_nat (S (length w))) with (1 + N.of_nat (length w)) by lia.
  rewrite total_range_add. change (range 1) with [0]. cbn [total pick N.eqb]. rewrite N.add_0_r. f_equal.
  rewrite <- IH. apply total_ext. intros i _. cbn [pick]. destruct (N.eqb_spec (1 + i) 0); [lia|].
  do 2 f_equal. lia.
Qed.

Definition nearest (early late fuel : nat) (n K step : N) (w : list N) (tape : list N) : option (N * list N) :=
  match lottery early late 0 K step tape with
  | None => None
  | Some ((o, _), others) =>
    match below fuel n others with
    | None => None
    | Some (c, others') => Some (match o with Some i => pick w i | None => c end, others')
    end
  end.

Definition nearest_bytes (early late fuel : nat) (n : N) : nat := early + 0 + late + fuel * bytes_of (digits n).

Theorem nearest_counts early late fuel n K step w P :
  fits early late K step = true -> N.of_nat (length w) = K ->
  count (happens P) (outcomes (nearest early late fuel n K step w) (nearest_bytes early late fuel n))
  = weight early late n K step (ways fuel n) w P.
Proof.
  intros F Hw. rewrite count_outcomes. unfold nearest_bytes.
  set (cell := fun o c => match o with Some i => pick w i | None => c end).
  set (g := fun (p : option N * N) others => after (fun c _ => one (P (cell (fst p) c))) (below fuel n others)).
  rewrite (total_ext _ (fun tape => after g (lottery early late 0 K step tape))).
  2:{ intros t _. unfold nearest, g. destruct (lottery early late 0 K step t) as [[[o e] z]|]; [|reflexivity].
      cbn [after fst]. destruct (below fuel n z) as [[c z']|]; reflexivity. }
  rewrite (lottery_counts early late 0 K step (fuel * bytes_of (digits n)) g); auto.
  2:{ intros [o e] a z Ha. unfold g. pose proof (below_prefix fuel n a z Ha) as E.
      destruct (below fuel n (a ++ z)) as [[x ?]|], (below fuel n a) as [[y ?]|]; cbn in E |- *; congruence. }
  change (range (room 0)) with [0]. unfold g. cbn [total fst].
  rewrite (total_ext (fun i => _ + 0) (fun i => ways fuel n * n * one (P (pick w i)))).
  2:{ intros i _. rewrite (below_exactly fuel n (fun c => one (P (cell (Some i) c)))). cbn [cell].
      rewrite total_range_const. lia. }
  rewrite (below_exactly fuel n (fun c => one (P (cell None c)))). cbn [cell].
  rewrite total_scale. rewrite <- Hw at 1. rewrite (total_pick (fun x => one (P x))).
  unfold weight, outside, count. lia.
Qed.

(** Two lists of K different numbers each: nearest, listing, box, and what floats select. How many tries the
    rejection needs does not depend on the list. *)
Theorem nearest_private early late fuel n K step w w' :
  fits early late K step = true ->
  different n w = true -> different n w' = true -> N.of_nat (length w) = K -> N.of_nat (length w') = K ->
  close (inside early late n K step) (outside early late K step)
    (outcomes (nearest early late fuel n K step w) (nearest_bytes early late fuel n))
    (outcomes (nearest early late fuel n K step w') (nearest_bytes early late fuel n)).
Proof.
  intros F D D' E E'. apply different_sound in D, D'.
  apply close_option; [unfold inside; lia|apply outcomes_length| |].
  - unfold some. rewrite !nearest_counts, !weight_all by auto. reflexivity.
  - intros P. rewrite !nearest_counts by auto.
    pose proof (weights_close early late n K step (ways fuel n) (fun _ : N => w) (fun _ => w') P [0]) as C.
    cbn [total] in C. rewrite !N.add_0_r in C. apply C; auto.
Qed.

(** ** Blocks ([Blocks.draw_one]): randomized response and sectors

    Each of T blocks of 2^j cells is reported with probability step/2^bits, whatever the answer is; otherwise
    the block of the answer. The cell within the block is uniform. With j = 0 a block is a category. *)

Definition blocks (early late : nat) (j T step code : N) (tape : list N) : option (N * list N) :=
  match lottery early late (bytes_of j) T step tape with
  | None => None
  | Some ((o, e), others) => Some (match o with Some i => i | None => code end * 2 ^ j + highest j e, others)
  end.

Definition response (early late : nat) (T step code : N) : list N -> option (N * list N) := blocks early late 0 T step code.

Definition blocks_bytes (early late : nat) (j : N) : nat := early + bytes_of j + late + 0.

Definition own (early late : nat) (T step : N) : N := room (early + late) - (T - 1) * step.

Theorem blocks_counts early late j T step code P :
  fits early late T step = true ->
  count (happens P) (outcomes (blocks early late j T step code) (blocks_bytes early late j))
  = 2 ^ (8 * N.of_nat (bytes_of j) - j)
    * total (fun x => step * count (fun i => P (i * 2 ^ j + x)) (range T)
                      + outside early late T step * one (P (code * 2 ^ j + x))) (range (2 ^ j)).
Proof.
  intros F. rewrite count_outcomes. unfold blocks_bytes.
  set (report := fun o e => match o with Some i => i | None => code end * 2 ^ j + highest j e).
  set (g := fun (p : option N * N) (_ : list N) => one (P (report (fst p) (snd p)))).
  rewrite (total_ext _ (fun tape => after g (lottery early late (bytes_of j) T step tape))).
  2:{ intros t _. unfold blocks. destruct (lottery early late (bytes_of j) T step t) as [[[o e] z]|]; reflexivity. }
  rewrite (lottery_counts early late (bytes_of j) T step 0 g) by (auto; intros ? ? ? _; reflexivity).
  unfold g, outside. cbn [tapes total fst snd]. set (q := 2 ^ (8 * N.of_nat (bytes_of j) - j)).
  assert (E : forall o, total (fun e => one (P (report o e)) + 0) (range (room (bytes_of j)))
                = q * total (fun x => one (P (match o with Some i => i | None => code end * 2 ^ j + x))) (range (2 ^ j))).
  { intros o. unfold q. rewrite <- (total_highest (fun x => one (P (match o with Some i => i | None => code end * 2 ^ j + x))) j).
    apply total_ext. intros e _. unfold report. lia. }
  rewrite E, (total_ext _ (fun i => q * total (fun x => one (P (i * 2 ^ j + x))) (range (2 ^ j)))) by (intros; apply E).
  rewrite total_scale, total_swap, total_plus, !total_scale. unfold count. lia.
Qed.

(** The answer's own category has the weight H = 2^bits − (T − 1)·step, any other L = step. *)
Theorem blocks_private early late j T step code code' :
  fits early late T step = true -> code < T -> code' < T ->
  close (own early late T step) step
    (outcomes (blocks early late j T step code) (blocks_bytes early late j))
    (outcomes (blocks early late j T step code') (blocks_bytes early late j)).
Proof.
  intros F Hc Hc'. pose proof (lottery_room _ _ _ _ F) as R.
  assert (O : own early late T step = outside early late T step + step) by (unfold own, outside; nia).
  apply close_option; [lia|apply outcomes_length| |].
  - unfold some. rewrite !blocks_counts by auto. reflexivity.
  - intros P. rewrite !blocks_counts, O by auto. set (L := outside _ _ _ _). set (q := 2 ^ (_ - _)).
    rewrite <- !N.mul_assoc. apply N.mul_le_mono_l.
    rewrite (N.mul_comm _ step), (N.mul_comm _ (L + step)), <- !total_scale. apply total_le. intros x _.
    assert (B : one (P (code * 2 ^ j + x)) <= count (fun i => P (i * 2 ^ j + x)) (range T)).
    { pose proof (count_different (fun i => P (i * 2 ^ j + x)) [code] (range T)) as Q. unfold count at 1 in Q.
      cbn [total] in Q. rewrite N.add_0_r in Q. apply Q; [repeat constructor; intros []|].
      intros y [<-|[]]. apply in_range; auto. }
    set (s := count _ (range T)) in *. set (p := one (P (code * 2 ^ j + x))) in *.
    set (p' := one (P (code' * 2 ^ j + x))).
    apply N.le_trans with ((L + step) * (step * s)); [|apply N.mul_le_mono_l; lia].
    replace ((L + step) * (step * s)) with (step * (step * s + L * s)) by ring.
    apply N.mul_le_mono_l, N.add_le_mono_l, N.mul_le_mono_l; auto.
Qed.

Corollary response_private early late T step code code' :
  fits early late T step = true -> code < T -> code' < T ->
  close (own early late T step) step
    (outcomes (response early late T step code) (blocks_bytes early late 0))
    (outcomes (response early late T step code') (blocks_bytes early late 0)).
Proof. apply blocks_private. Qed.

(** ** The bytes that are sent

    Writing a report as [width] bytes is post-processing, so that the promise is about the message itself; and
    the message is the report, neither more nor less ([message_value]). *)

Theorem messages_private {width a b} (draw draw' : list N -> option (N * list N)) n :
  close a b (outcomes draw n) (outcomes draw' n) -> close a b (messages width draw n) (messages width draw' n).
Proof. apply close_map. Qed.
