// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package androidx.work;

public abstract class ListenableWorker {
    private final android.content.Context context;

    public ListenableWorker(android.content.Context context, WorkerParameters parameters) {
        this.context = context;
    }

    public final android.content.Context getApplicationContext() {
        return context.getApplicationContext();
    }

    public abstract static class Result {
        public static Result success() {
            return null;
        }

        public static Result retry() {
            return null;
        }
    }
}
