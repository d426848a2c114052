// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package androidx.work;

public enum ExistingWorkPolicy {
    KEEP
}
