// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package androidx.work;

public final class Constraints {
    public static final class Builder {
        public Builder setRequiredNetworkType(NetworkType type) {
            return this;
        }

        public Constraints build() {
            return null;
        }
    }
}
