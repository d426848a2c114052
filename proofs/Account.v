(** * The account

    A model of [decide], [_spend] and [_short] of the account's rules, and of the transactions around them. The
    devices of a person share a budget; each device has one file; several processes of a device open it; each
    process may be killed at any moment. Over every sequence of events the charges stay within the limits, nothing
    is sent that was not charged, and a permanent answer is charged once. The model is not extracted: the vectors
    in account.json test the implementations. *)

From Dither Require Export Counting.

(** ** Units *)

(** A charge is ε in units of 2^−64, rounded up ([charge]); ε = num/den. *)
Definition charge_of (unit num den : N) : N := (num * unit + (den - 1)) / den.

Lemma charge_enough unit num den : 0 < den -> num * unit <= charge_of unit num den * den.
Proof.
  intros H. unfold charge_of. pose proof (N.div_mod (num * unit + (den - 1)) den).
  pose proof (N.mod_lt (num * unit + (den - 1)) den). nia.
Qed.

(** A limit is u + ⌊u/2^52⌋ + 1 units, u the budget in units, rounded down; 0 if u is 0 ([limit]). *)
Definition limit_of (units : N) : N := if units =? 0 then 0 else units + units / 2 ^ 52 + 1.

Lemma limit_slack units : 2 ^ 52 * limit_of units <= (2 ^ 52 + 1) * units + 2 ^ 52.
Proof.
  unfold limit_of. destruct (N.eqb_spec units 0); [lia|].
  pose proof (N.mul_div_le units (2 ^ 52)). lia.
Qed.

(** ** Charges

    A cell is anything that has a limit: ε of an epoch, δ of an epoch, ε or δ of all epochs together, the quota of
    an asker in an epoch. An answer charges the cells of all epochs that its data touch. *)

Record request := Request { name : N; permanent : bool; charges : list (N * N) (* cell, units *) }.

Definition amount (c : N) (r : request) : N := total (fun p => if fst p =? c then snd p else 0) (charges r).
Definition spent (entries : list request) (c : N) : N := total (amount c) entries.

(** Whether a request fits into every cell that it charges. *)
Definition affordable (own : N -> N) (entries : list request) (r : request) : bool :=
  forallb (fun p => spent entries (fst p) + amount (fst p) r <=? own (fst p)) (charges r).

Lemma amount_elsewhere c r : ~ In c (map fst (charges r)) -> amount c r = 0.
Proof.
  unfold amount. induction (charges r) as [|[k u] l IH]; cbn; intros H; auto.
  destruct (N.eqb_spec k c); [subst; exfalso; apply H; auto|]. rewrite IH; auto.
Qed.

(** What becomes of an answer: an entry more, the permanent answer again, or a refusal. *)
Inductive decision := Charged | Repeated | Refused.

Fixpoint same (l m : list (N * N)) : bool :=
  match l, m with
  | [], [] => true
  | (c, u) :: l', (d, v) :: m' => (c =? d) && (u =? v) && same l' m'
  | _, _ => false
  end.

Definition same_charges (r e : request) : bool := same (charges e) (charges r).

(** The permanent answer to a question. *)
Definition kept (entries : list request) (n : N) : option request :=
  find (fun e => permanent e && (name e =? n)) entries.

Definition decide (own : N -> N) (entries : list request) (r : request) : decision :=
  match (if permanent r then kept entries (name r) else None) with
  | Some e => if same_charges r e then Repeated else Refused
  | None => if affordable own entries r then Charged else Refused
  end.

(** ** Devices, processes, crashes *)

(** A transaction: the process, its request, and the entries that it read. *)
Record transaction := Transaction { process : N; asks : request; read : list request }.

(** [entries] are on disk. [lock] is the transaction that is open; [sent] is what left the device. *)
Record device := Device {
  own : N -> N; entries : list request; lock : option transaction; sent : list request }.

Inductive event :=
| Begin (d : nat) (p : N) (r : request)  (* process p opens a transaction; it waits while another is open *)
| Commit (d : nat) (p : N)               (* what was decided about the entries that were read is on disk *)
| Crash (d : nat) (p : N)                (* process p is killed; its open transaction never happened *)
| Send (d : nat) (r : request)           (* any process sends a report; the same one as often as it likes *)
| Split (d : nat) (part : N -> N).       (* a new device is given a part of a device's own budget *)

Definition committed (t : transaction) (x : device) : device :=
  match decide (own x) (read t) (asks t) with
  | Charged => Device (own x) (asks t :: read t) None (sent x)
  | _ => Device (own x) (entries x) None (sent x)
  end.

(** What an event does to the device that it is about. A report is sent only if its entry is on disk. *)
Definition happens_to (e : event) (x : device) : device :=
  match e with
  | Begin _ p r => match lock x with
                   | None => Device (own x) (entries x) (Some (Transaction p r (entries x))) (sent x)
                   | Some _ => x
                   end
  | Commit _ p => match lock x with
                  | Some t => if process t =? p then committed t x else x
                  | None => x
                  end
  | Crash _ p => match lock x with
                 | Some t => if process t =? p then Device (own x) (entries x) None (sent x) else x
                 | None => x
                 end
  | Send _ r => if existsb (fun e => (name e =? name r) && Bool.eqb (permanent e) (permanent r) && same_charges r e) (entries x)
                then Device (own x) (entries x) (lock x) (r :: sent x) else x
  | Split _ _ => x
  end.

Definition place (e : event) : nat :=
  match e with Begin d _ _ | Commit d _ | Crash d _ | Send d _ | Split d _ => d end.

Fixpoint at_place (d : nat) (f : device -> device) (w : list device) : list device :=
  match w, d with
  | [], _ => []
  | x :: t, O => f x :: t
  | x :: t, S n => x :: at_place n f t
  end.

(** [cells] is any finite list of cells, such as all that the files name. A part of the budget can be given away
    if the rest covers what was spent in each of them, and while no transaction is open. *)
Section Person.
  Variable cells : list N.
  Variable limits : N -> N.

  Definition can_split (part : N -> N) (x : device) : bool :=
    match lock x with
    | Some _ => false
    | None => forallb (fun c => (part c <=? own x c) && (spent (entries x) c <=? own x c - part c)) cells
    end.

  Definition step (w : list device) (e : event) : list device :=
    match e with
    | Split d part =>
      match nth_error w d with
      | Some x => if can_split part x
                  then at_place d (fun x => Device (fun c => own x c - part c) (entries x) (lock x) (sent x)) w
                       ++ [Device part [] None []]
                  else w
      | None => w
      end
    | _ => at_place (place e) (happens_to e) w
    end.

  Definition opened : list device := [Device limits [] None []].
  Definition run (events : list event) : list device := fold_left step events opened.

  (** *** One device *)

  Definition fine (x : device) : Prop :=
    (forall c, In c cells -> spent (entries x) c <= own x c)
    /\ (match lock x with Some t => read t = entries x | None => True end)
    /\ (forall r, In r (sent x) -> exists e, In e (entries x) /\ name e = name r /\ permanent e = permanent r /\ charges e = charges r)
    /\ NoDup (map name (filter permanent (entries x))).

  Lemma same_charges_sound r e : same_charges r e = true -> charges e = charges r.
  Proof.
    unfold same_charges. generalize (charges e) (charges r).
    induction l as [|[c u] l IH]; intros [|[d v] m]; cbn; try discriminate; auto. intros H.
    apply andb_prop in H as [H Hs]. apply andb_prop in H as [Hc Hu]. apply N.eqb_eq in Hc, Hu.
    rewrite (IH m Hs). congruence.
  Qed.

  Lemma affordable_within own' l r : affordable own' l r = true ->
    (forall c, In c cells -> spent l c <= own' c) -> forall c, In c cells -> spent (r :: l) c <= own' c.
  Proof.
    intros A H c Hc. unfold spent in *. cbn [total]. destruct (in_dec N.eq_dec c (map fst (charges r))) as [I|N0].
    - apply in_map_iff in I as (p & <- & Hp). unfold affordable in A. rewrite forallb_forall in A.
      specialize (A p Hp). apply N.leb_le in A. unfold spent in A. lia.
    - rewrite amount_elsewhere by auto. apply H; auto.
  Qed.

  Lemma happens_fine e x : fine x -> fine (happens_to e x).
  Proof.
    intros (S & L & T & D). destruct e as [d p r|d p|d p|d r|d part]; cbn [happens_to].
    - destruct (lock x) eqn:E; repeat split; auto. rewrite E; auto.
    - destruct (lock x) as [t|] eqn:E; [|repeat split; auto; rewrite E; auto].
      destruct (process t =? p); [|repeat split; auto; rewrite E; auto].
      unfold committed, decide. rewrite L.
      destruct (permanent (asks t)) eqn:Hp.
      + destruct (kept (entries x) (name (asks t))) as [k|] eqn:Hk.
        { destruct (same_charges _ _); repeat split; auto. }
        destruct (affordable _ _ _) eqn:A; repeat split; auto; cbn [entries own lock sent].
        * apply affordable_within; auto.
        * intros r Hr. destruct (T r Hr) as (k & I & ?). exists k. split; [right|]; auto.
        * cbn [filter]. rewrite Hp. cbn [map]. constructor; auto. intros Hin.
          apply in_map_iff in Hin as (k & Hn & Hf). apply filter_In in Hf as [I Pk].
          unfold kept in Hk. pose proof (find_none _ _ Hk k I) as F. cbn in F. rewrite Pk, Hn, N.eqb_refl in F. discriminate.
      + destruct (affordable _ _ _) eqn:A; repeat split; auto; cbn [entries own lock sent].
        * apply affordable_within; auto.
        * intros r Hr. destruct (T r Hr) as (k & I & ?). exists k. split; [right|]; auto.
        * cbn [filter]. rewrite Hp. auto.
    - destruct (lock x) as [t|] eqn:E; [|repeat split; auto; rewrite E; auto].
      destruct (process t =? p); repeat split; auto. rewrite E; auto.
    - destruct (existsb _ _) eqn:E; [|repeat split; auto]. repeat split; auto. cbn [sent entries].
      intros q [<-|Hq]; auto. apply existsb_exists in E as (k & I & C).
      apply andb_prop in C as [C Hs]. apply andb_prop in C as [Hn Hp]. exists k.
      apply N.eqb_eq in Hn. apply Bool.eqb_prop in Hp. apply same_charges_sound in Hs. auto.
    - repeat split; auto.
  Qed.

  Lemma happens_own e x : own (happens_to e x) = own x.
  Proof.
    destruct e; cbn [happens_to]; auto.
    - destruct (lock x); auto.
    - destruct (lock x) as [t|]; auto. destruct (process t =? p); auto. unfold committed. destruct (decide _ _ _); auto.
    - destruct (lock x) as [t|]; auto. destruct (process t =? p); auto.
    - destruct (existsb _ _); auto.
  Qed.

  (** *** All devices *)

  Definition owned (w : list device) (c : N) : N := total (fun x => own x c) w.

  Lemma at_place_in d f w y : In y (at_place d f w) -> In y w \/ exists x, nth_error w d = Some x /\ y = f x.
  Proof.
    revert d. induction w as [|x w IH]; intros [|d]; cbn; try tauto.
    - intros [<-|H]; eauto.
    - intros [<-|H]; auto. destruct (IH d H) as [?|(z & ? & ?)]; eauto.
  Qed.

  Lemma at_place_owned d f w c : (forall x, own (f x) = own x) -> owned (at_place d f w) c = owned w c.
  Proof.
    intros H. unfold owned. revert d. induction w as [|x w IH]; intros [|d]; cbn; auto; [rewrite H|rewrite IH]; auto.
  Qed.

  Lemma at_place_less d w part x c : nth_error w d = Some x -> part c <= own x c ->
    owned (at_place d (fun x => Device (fun c => own x c - part c) (entries x) (lock x) (sent x)) w) c + part c = owned w c.
  Proof.
    unfold owned. revert d. induction w as [|y w IH]; intros [|d] H L; try discriminate; cbn in *.
    - injection H as ->. lia.
    - rewrite <- (IH d H L). lia.
  Qed.

  Definition sound (w : list device) : Prop :=
    (forall x, In x w -> fine x) /\ (forall c, In c cells -> owned w c <= limits c).

  Lemma step_sound w e : sound w -> sound (step w e).
  Proof.
    intros [F O].
    assert (Simple : sound (at_place (place e) (happens_to e) w)).
    { split.
      - intros y Hy. apply at_place_in in Hy as [?|(x & Hx & ->)]; auto. apply happens_fine, F.
        apply nth_error_In with (1 := Hx).
      - intros c Hc. rewrite at_place_owned by (intros; apply happens_own). auto. }
    destruct e as [| | | |d part]; auto. cbn [step].
    destruct (nth_error w d) as [x|] eqn:E; [|split; auto]. destruct (can_split part x) eqn:C; [|split; auto].
    unfold can_split in C. destruct (lock x) eqn:Lx; [discriminate|]. rewrite forallb_forall in C.
    assert (C' : forall c, In c cells -> part c <= own x c /\ spent (entries x) c <= own x c - part c).
    { intros c Hc. specialize (C c Hc). apply andb_prop in C as [A B]. apply N.leb_le in A, B. auto. }
    split.
    - intros y Hy. apply in_app_or in Hy as [Hy|[<-|[]]].
      + apply at_place_in in Hy as [?|(z & Hz & ->)]; auto. rewrite E in Hz. injection Hz as <-.
        destruct (F x) as (S & L & T & D); [apply nth_error_In with (1 := E)|].
        repeat split; auto; cbn [own entries]. intros c Hc. apply C'; auto.
      + repeat split; cbn; auto; try tauto; try lia. constructor.
    - intros c Hc. unfold owned. rewrite total_app. cbn [total own]. rewrite N.add_0_r.
      fold (owned (at_place d (fun x => Device (fun c => own x c - part c) (entries x) (lock x) (sent x)) w) c).
      rewrite (at_place_less d w part x c) by (auto; apply C'; auto). auto.
  Qed.

  Lemma run_sound events : sound (run events).
  Proof.
    unfold run. assert (S : sound opened).
    { split; [intros x [<-|[]]|intros c _; unfold owned; cbn; lia].
      repeat split; cbn; auto; try tauto; try lia. constructor. }
    revert S. generalize opened. induction events as [|e events IH]; intros w S; cbn; auto.
    apply IH, step_sound; auto.
  Qed.

  (** ** What is promised *)

  (** Over every sequence of events, whatever crashes and however many processes and devices there are, the
      charges of all devices together never exceed the limit of any cell. *)
  Theorem never_exceeds events c : In c cells -> total (fun x => spent (entries x) c) (run events) <= limits c.
  Proof.
    intros Hc. destruct (run_sound events) as [F O]. apply N.le_trans with (2 := O c Hc).
    apply total_le. intros x Hx. apply (F x Hx); auto.
  Qed.

  (** With the slack: where a limit is that of a budget of so many units, the charges are at most the budget, 2^−52
      of it and one unit more. *)
  Corollary budget_with_slack events c units : In c cells -> limits c = limit_of units ->
    2 ^ 52 * total (fun x => spent (entries x) c) (run events) <= (2 ^ 52 + 1) * units + 2 ^ 52.
  Proof.
    intros Hc Hl. pose proof (never_exceeds events c Hc) as H. rewrite Hl in H.
    pose proof (limit_slack units). lia.
  Qed.

  (** Nothing leaves a device that was not charged before, to the same question and for the same price. *)
  Theorem sent_was_charged events x r : In x (run events) -> In r (sent x) ->
    exists e, In e (entries x) /\ name e = name r /\ permanent e = permanent r /\ charges e = charges r.
  Proof. intros Hx. destruct (run_sound events) as [F _]. apply (F x Hx). Qed.

  (** A permanent answer is charged once, however often it is asked for and sent. *)
  Theorem permanent_once events x : In x (run events) -> NoDup (map name (filter permanent (entries x))).
  Proof. intros Hx. destruct (run_sound events) as [F _]. apply (F x Hx). Qed.
End Person.

(** ** Without the lock it would not hold

    Two processes that read before either writes, as two programs with one ledger file would, both spend. *)

Definition unlocked (own : N -> N) (r : request) : list request :=
  let first := [] in let second := [] in  (* both read an empty file *)
  (if affordable own first r then [r] else []) ++ (if affordable own second r then [r] else []).

Example a_lock_is_needed : spent (unlocked (fun _ => 10) (Request 1 false [(0, 6)])) 0 = 12.
Proof. reflexivity. Qed.
