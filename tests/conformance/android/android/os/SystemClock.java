// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package android.os;

public final class SystemClock {
    public static long elapsedRealtime() {
        return 0;
    }
}
