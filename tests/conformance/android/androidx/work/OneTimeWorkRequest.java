// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package androidx.work;

public final class OneTimeWorkRequest {
    public static final class Builder {
        public Builder(Class<? extends ListenableWorker> worker) {}

        public Builder setConstraints(Constraints constraints) {
            return this;
        }

        public Builder setBackoffCriteria(BackoffPolicy policy, long delay, java.util.concurrent.TimeUnit unit) {
            return this;
        }

        public OneTimeWorkRequest build() {
            return null;
        }
    }
}
