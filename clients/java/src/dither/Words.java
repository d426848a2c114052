package dither;

import static dither.Malformed.need;

import java.util.ArrayDeque;
import java.util.Deque;

/** Words: texts that are shown to people. docs/wire.md has the rule for all readers. */
final class Words {
    /** Controls, separators of lines, invisible characters, no characters, half a pair of UTF-16. */
    private static final int[][] NEVER = {
        {0x0, 0x1F}, {0x7F, 0x9F}, {0x200B, 0x200B}, {0x2028, 0x2029}, {0x2060, 0x2064}, {0x206A, 0x206F},
        {0xD800, 0xDFFF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF},
    };

    private static final int[][] INVISIBLE = {
        {0xA, 0xA}, {0x20, 0x20}, {0xA0, 0xA0}, {0xAD, 0xAD}, {0x61C, 0x61C}, {0x1680, 0x1680}, {0x2000, 0x200F},
        {0x202A, 0x202F}, {0x205F, 0x205F}, {0x2066, 0x2069}, {0x3000, 0x3000}, {0xFE00, 0xFE0F},
    };

    private Words() {}

    private static boolean within(int point, int[][] ranges) {
        for (int[] range : ranges) if (range[0] <= point && point <= range[1]) return true;
        return false;
    }

    /** Return the mark that closes a direction, or 0 if this one opens none. */
    private static int closing(int point) {
        if (point == 0x202A || point == 0x202B || point == 0x202D || point == 0x202E) return 0x202C;
        return point >= 0x2066 && point <= 0x2068 ? 0x2069 : 0;
    }

    /** Return a text; refuse it ("terms") unless it is words within the limits of characters and bytes of UTF-8, on one line unless it may have several. */
    static String check(Object given, int characters, int bytes, boolean lines) {
        need(given instanceof String, "terms");
        String text = (String) given;
        need(text.length() <= 4L * Math.min(characters, bytes), "terms"); // a long one takes long to read
        need(text.codePointCount(0, text.length()) <= characters && Json.utf8(text).length <= bytes, "terms");
        Deque<Integer> open = new ArrayDeque<>();
        boolean visible = false;
        for (int point : text.codePoints().toArray()) {
            if (point == '\n' && lines) {
                need(open.isEmpty(), "terms");
                continue;
            }
            need(!within(point, NEVER), "terms");
            if (closing(point) != 0) open.push(closing(point));
            else if (point == 0x202C || point == 0x2069) need(!open.isEmpty() && open.pop() == point, "terms");
            visible |= !within(point, INVISIBLE);
        }
        need(visible && open.isEmpty(), "terms");
        return text;
    }
}
