(* The bridge between lines of text and the extracted draws. It is written by hand and is outside the proof.

   Without arguments, a line asks for one draw and is answered by one line: the message as hexadecimal text and
   the number of bytes that were not taken, `refused` if a check of the proof does not hold, or `short` if there
   are too few bytes. Numbers are decimal, or hexadecimal after 0x. A tape is hexadecimal text, "-" if empty.

     blocks   EARLY LATE LOG2WIDTH TICKETS STEP BYTES CODE TAPE
     sliding  EARLY LATE LOG2CELLS TICKETS STEP BYTES START TAPE
     optional EARLY LATE LOG2CELLS TICKETS STEP BYTES true|false START TAPE
     nearest  EARLY LATE CELLS TICKETS STEP BYTES CELL,CELL,… TAPE

     alias    BITS BYTES WEIGHT,WEIGHT,… TAPE
     bound    NUMERATOR DENOMINATOR

   The last one is answered by the lower bound of e^(NUMERATOR/DENOMINATOR) in units of 2^-320, in hexadecimal
   digits: nothing is drawn. A START is `line FRACTION AIM` or `knots POSITION LOW HIGH`: the position between
   two knots, and their entries. The weights of `alias` add up to 2^BITS.

   With the argument `many`, the same words without the input and the tape, and the number of bytes of a tape,
   records are read from the standard input: 8 bytes of the input (code, aim, or row of a list), and a tape. The
   answer is 4 bytes for each record, little endian; 0xffffffff for a draw that is refused or short. *)

open Draws

let rec nat_of_int n = if n <= 0 then O else S (nat_of_int (n - 1))
let nat text = nat_of_int (int_of_string text)
let number = Z.of_string
let cells text = List.map number (String.split_on_char ',' text)

let tape_of_hex text =
  if text = "-" then []
  else List.init (String.length text / 2) (fun i -> Z.of_int (int_of_string ("0x" ^ String.sub text (2 * i) 2)))

(* The largest number of tries of a rejection: no tape is longer. *)
let fuel = nat_of_int 4096

exception Refused

let require condition = if not condition then raise Refused

(* The number of coins' bytes, and the start that they make. *)
let start_of = function
  | [ "line"; fraction; aim ] -> bytes_of (number fraction), line_start (number fraction) (number aim)
  | [ "knots"; position; low; high ] ->
    let entry i = if Z.sign i = 0 then number low else number high in
    nat_of_int 4, knot_start entry (number position)
  | _ -> failwith "unknown start"

let power k = Z.shift_left Z.one (Z.to_int k)

(* A row of weights of total 2^bits, completed to a power of two by zeros. *)
let alias_of bits row =
  let b = Z.of_int (max 1 (Z.numbits (Z.of_int (List.length row - 1)))) in
  let columns = Z.to_int (power b) and c = Z.sub bits b in
  let row = row @ List.init (columns - List.length row) (fun _ -> Z.zero) in
  require (Z.equal (total (fun w -> w) row) (power bits));
  alias b c (table (power c) row)

(* A draw of a kind, by its words without the tape; every condition of its theorem is checked. *)
let draw_of = function
  | [ "alias"; bits; bytes; weights ] -> nat bytes, alias_of (number bits) (cells weights)
  | kind :: early :: late :: size :: tickets :: step :: bytes :: input ->
    let early, late, size, tickets, step = nat early, nat late, number size, number tickets, number step in
    require (fits early late tickets step);
    nat bytes, (match kind, input with
    | "blocks", [ code ] ->
      require (Z.lt (number code) tickets);
      blocks early late size tickets step (number code)
    | "sliding", start ->
      require (Z.leq tickets (power size));
      let coins, start = start_of start in
      sliding early late size tickets step coins start
    | "optional", answered :: start ->
      require (Z.leq (Z.shift_left tickets 1) (power size));
      let coins, start = start_of start in
      optional early late size tickets step coins (bool_of_string answered) start
    | "nearest", [ window ] ->
      let window = cells window in
      require (different size window && Z.equal (Z.of_int (List.length window)) tickets);
      nearest early late fuel size tickets step window
    | _ -> failwith "unknown words")
  | _ -> failwith "unknown words"

let hex bytes = String.concat "" (List.map (fun byte -> Printf.sprintf "%02x" (Z.to_int byte)) bytes)

(* e^epsilon as the library bounds it: 2^320 units, 8 halvings. The series ends before its fuel does. *)
let bound numerator denominator =
  exp_below (Z.of_int 320) (nat_of_int 8) (nat_of_int 1000) (number numerator) (number denominator)

let draw_line words =
  let reversed = List.rev words in
  try
    let width, draw = draw_of (List.rev (List.tl reversed)) in
    match draw (tape_of_hex (List.hd reversed)) with
    | Some (report, others) -> Printf.printf "%s %d\n" (hex (message width report)) (List.length others)
    | None -> print_string "short\n"
  with Refused -> print_string "refused\n"

let answer line =
  match List.filter (( <> ) "") (String.split_on_char ' ' line) with
  | [ "bound"; numerator; denominator ] -> print_string (Z.format "%x" (bound numerator denominator) ^ "\n")
  | words -> draw_line words

(* Many draws with the same numbers; what does not depend on the input is checked once. *)
let many words length =
  let draw_for =
    match words with
    | [ "blocks"; early; late; j; tickets; step ] ->
      let early, late, j, tickets, step = nat early, nat late, number j, number tickets, number step in
      require (fits early late tickets step);
      fun code -> require (Z.lt code tickets); blocks early late j tickets step code
    | [ "sliding"; early; late; k; tickets; step; fraction ] ->
      let early, late, k, tickets, step = nat early, nat late, number k, number tickets, number step in
      require (fits early late tickets step && Z.leq tickets (power k));
      let fraction = number fraction in
      fun aim -> sliding early late k tickets step (bytes_of fraction) (line_start fraction aim)
    | [ "nearest"; early; late; n; tickets; step; lists ] ->
      let early, late, n, tickets, step = nat early, nat late, number n, number tickets, number step in
      let windows = Array.of_list (List.map cells (String.split_on_char ';' lists)) in
      require (fits early late tickets step && Array.for_all (different n) windows);
      require (Array.for_all (fun w -> Z.equal (Z.of_int (List.length w)) tickets) windows);
      fun row -> nearest early late fuel n tickets step windows.(Z.to_int row)
    | [ "alias"; bits; rows ] ->
      let draws = Array.of_list (List.map (fun row -> alias_of (number bits) (cells row)) (String.split_on_char ';' rows)) in
      fun row -> draws.(Z.to_int row)
    | _ -> failwith "unknown words"
  in
  let small = Array.init 256 Z.of_int in
  let record = Bytes.create (8 + length) and out = Bytes.create 4 in
  try
    while true do
      really_input stdin record 0 (8 + length);
      let input = Z.of_int (Int64.to_int (Bytes.get_int64_le record 0)) in
      let tape = List.init length (fun i -> small.(Char.code (Bytes.get record (8 + i)))) in
      let report = match draw_for input tape with Some (y, _) -> Z.to_int y | None -> 0xffffffff | exception Refused -> 0xffffffff in
      Bytes.set_int32_le out 0 (Int32.of_int report);
      print_bytes out
    done
  with End_of_file -> ()

let () =
  match Array.to_list Sys.argv with
  | _ :: "many" :: length :: words ->
    set_binary_mode_in stdin true;
    set_binary_mode_out stdout true;
    many words (int_of_string length)
  | _ -> ( try while true do answer (input_line stdin); flush stdout done with End_of_file -> ())
