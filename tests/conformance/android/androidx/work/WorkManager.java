// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package androidx.work;

public abstract class WorkManager {
    public static WorkManager getInstance(android.content.Context context) {
        return null;
    }

    public abstract void enqueueUniqueWork(String name, ExistingWorkPolicy policy, OneTimeWorkRequest work);
}
