package dither;

import static dither.Malformed.need;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;

/** A question as it travels: read, verified in integers, and ready to be answered. It is immutable. */
public final class Question {
    private static final int BITS = 320; // scale of the bound of e^ε
    /** The mechanisms that have each draw: policies list names, so that a name must be one whose mechanism draws so. */
    private static final String[][] NAMES = {
        {"sliding", "Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused"},
        {"optional", "Podium PM SW OGPM OGPMU Focused"},
        {"mixture", "Hybrid"},
        {"sectors", "Sectors"},
        {"response", "KRR RR"},
        {"bits", "OUE SUE"},
        {"subset", "SubsetSelection"},
        {"indices", "SubsetIndices"},
        {"several", "SetResponse"},
        {"polynomial", "SetResponse"},
        {"hadamard", "HadamardResponse"},
        {"projective", "ProjectiveResponse"},
        {"hashed", "OLH BLH"},
        {"prefix", "PEM"},
        {"questions", "Marginals"},
        {"lattice clamped", "Laplace Staircase"},
        {"lattice ring", "Purkayastha"},
        {"lattice bounded", "BoundedLaplace"},
        {"lattice normal", "Gaussian"},
        {"channel", "Exponential Cumulative Matrix"},
        {"table", "Cumulative Workload Matrix"},
        {"nearest", "Optimal"},
        {"listing", "Optimal"},
        {"box", "Optimal"},
        {"splines", "JointMoments"},
        {"directions", "Optimal"},
        {"routes", "Optimal"},
        {"pair", "TraCSC"},
        {"walk", "TraCSD Strawman"},
        {"polar", "Polar"},
        {"planar", "PlanarLaplace"},
        {"rings", "PlanarStaircase"},
        {"points", "NGram LSRR Exponential"},
        {"grid", "Gridding"},
        {"two copies", "ATP"},
        {"joint response", "JRR"},
        {"joint bits", "JointSUE"},
        {"joint hashed", "JointOLH"},
    };

    /** The mechanism that the specification names. */
    public final String mechanism;
    /** The ε that its integers keep. */
    public final double epsilon;
    /** The δ that its integers have, or 0. */
    public final double delta;
    /** The first 32 hexadecimal digits of the SHA-256 of the device text. */
    public final String fingerprint;

    final Map<String, Object> device;
    final Draw draw;

    /** The statements of a specification about itself, whether its draw is known or not. */
    static final class Head {
        final Map<String, Object> whole;
        final String fingerprint;
        final Map<String, Object> device;
        final String kind;

        Head(String text) {
            need(text.length() < 1 << 22, "text");
            whole = Json.object(Json.parse(text));
            need(Double.valueOf(2).equals(whole.get("dither")) && whole.size() == 6 && whole.containsKey("codebook"), "version");
            String written = Json.string(whole.get("device"));
            fingerprint = Json.string(whole.get("fingerprint"));
            need(fingerprint.equals(Json.digest(Json.utf8(written), 32)), "fingerprint");
            device = Json.canonical(written);
            kind = Json.string(device.get("draw"));
        }
    }

    /** Return whether this client knows a draw. */
    static boolean isKnown(String kind) {
        for (String[] one : NAMES) if (one[0].split(" ")[0].equals(kind) && kind.equals("lattice") || one[0].equals(kind)) return true;
        return false;
    }

    private Question(String text, boolean verify) {
        Head head = new Head(text);
        Map<String, Object> whole = head.whole;
        mechanism = Json.string(whole.get("mechanism"));
        fingerprint = head.fingerprint;
        Map<String, Object> parameters = Json.object(whole.get("parameters"));
        epsilon = verify ? Json.real(parameters.get("epsilon")) : 50;
        need(epsilon >= 1e-6 && epsilon <= 50, "epsilon");
        device = head.device;
        String kind = head.kind;
        need(draws(kind.equals("lattice") ? kind + " " + shape(Json.object(device.get(kind))) : kind, mechanism), "draw");
        draw = Draw.read(kind, device);
        BigInteger bound = expBelow(epsilon);
        if (draw.gaussian != null) {
            delta = draw.gaussian.delta(bound, parameters.get("delta"));
        } else {
            delta = 0;
            // This comparison of integers is the proof of privacy. A ratio below 1 is not the largest one: the input would be the least likely.
            need(!verify || draw.keeps(bound, BITS, epsilon), "privacy");
        }
    }

    /** Read a specification and verify that its integers keep the ε that it names. Throw {@link Malformed} otherwise. */
    public static Question read(String specification) {
        return new Question(specification, true);
    }

    /** Read a specification whose ε is not one between any two values: noise by distance, and coins that two people share. It is drawn only for vectors. */
    static Question unverified(String specification) {
        return new Question(specification, false);
    }

    /** Return the kind of a lattice, or that its noise is normal: designs have one each. */
    private static Object shape(Map<String, Object> lattice) {
        return "normal".equals(Json.object(lattice.get("noise")).get("decay")) ? "normal" : lattice.get("kind");
    }

    private static boolean draws(String kind, String mechanism) {
        for (String[] one : NAMES) {
            if (one[0].equals(kind)) return !mechanism.contains(" ") && (" " + one[1] + " ").contains(" " + mechanism + " ");
        }
        return false;
    }

    /** Return the logarithm of the largest ratio of two probabilities of one report, or the parameter if there is a δ. */
    double spent() {
        if (draw.gaussian != null) return epsilon;
        BigDecimal over = new BigDecimal(draw.top.subtract(draw.bottom).shiftLeft(64).divide(draw.bottom));
        return Math.log1p(over.doubleValue() * 0x1p-64);
    }

    /** Return the report of a value as bytes, or null if the value is not in the domain. */
    byte[] report(Object value, Source source) {
        Object input = draw.input(value);
        return input == null ? null : draw.draw(input, source);
    }

    /** Return a lower bound of e^ε·2^320, as docs/wire.md makes it: ε means the exact number of its double. */
    static BigInteger expBelow(double epsilon) {
        BigDecimal exact = new BigDecimal(epsilon); // a binary fraction: numerator/10^scale
        BigInteger numerator = exact.unscaledValue();
        BigInteger denominator = BigInteger.TEN.pow(Math.max(exact.scale(), 0)).shiftLeft(8);
        if (exact.scale() < 0) numerator = numerator.multiply(BigInteger.TEN.pow(-exact.scale()));
        BigInteger term = BigInteger.ONE.shiftLeft(BITS);
        BigInteger total = term;
        for (int count = 1; term.signum() > 0; count++) {
            term = term.multiply(numerator).divide(denominator.multiply(BigInteger.valueOf(count)));
            total = total.add(term);
        }
        for (int i = 0; i < 8; i++) total = total.multiply(total).shiftRight(BITS);
        return total;
    }
}
