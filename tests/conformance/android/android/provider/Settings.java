// As much of Android as clients/java/README.md uses, so that its examples are compiled. Nothing of it runs.
package android.provider;

public final class Settings {
    public static final class Global {
        public static final String BOOT_COUNT = "boot_count";

        public static int getInt(android.content.ContentResolver resolver, String name, int otherwise) {
            return otherwise;
        }
    }
}
