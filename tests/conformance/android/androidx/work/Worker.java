// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package androidx.work;

public abstract class Worker extends ListenableWorker {
    public Worker(android.content.Context context, WorkerParameters parameters) {
        super(context, parameters);
    }

    public abstract Result doWork();
}
