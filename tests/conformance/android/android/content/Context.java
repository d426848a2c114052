// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package android.content;

public abstract class Context {
    public abstract java.io.File getNoBackupFilesDir();

    public abstract Context getApplicationContext();

    public abstract ContentResolver getContentResolver();
}
