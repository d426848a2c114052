package dither;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/**
 * A file that is replaced atomically: a new file is written, synchronised, and renamed, so that a crash leaves the old text or the new one.
 *
 * <p>Processes take turns by a lock on a file beside it, threads by the store. Keep the file out of backups: an earlier copy that is put
 * back forgets later answers. A file that is empty, cut off or changed is refused ("account"), never started anew.
 */
public final class FileStore implements Store {
    private static final Object TURN = new Object(); // one process holds a lock of a file once
    private final File file;

    public FileStore(File file) {
        this.file = file.getAbsoluteFile();
    }

    @Override
    public void update(Change change) throws IOException {
        synchronized (TURN) {
            try (RandomAccessFile turns = new RandomAccessFile(new File(file.getPath() + ".lock"), "rw");
                    FileLock lock = turns.getChannel().lock()) {
                String kept = "";
                if (file.exists()) {
                    String[] parts = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8).split("\n", -1);
                    boolean document = parts.length == 2 && parts[0].equals(Json.digest(Json.utf8(parts[1]), 64));
                    Malformed.need(document, "account");
                    kept = parts[1];
                }
                String next = change.apply(kept);
                if (!next.isEmpty() && lock.isValid()) write(next);
            }
        }
    }

    /** Create a file that only its owner may read and write, from its beginning on, where a file system has such modes. */
    private static FileChannel create(Path path) throws IOException {
        Set<StandardOpenOption> options = EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        boolean modes = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        return modes ? FileChannel.open(path, options, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))) : FileChannel.open(path, options);
    }

    private void write(String text) throws IOException {
        File beside = new File(file.getPath() + ".new");
        Files.deleteIfExists(beside.toPath());
        try (FileChannel out = create(beside.toPath())) {
            ByteBuffer bytes = ByteBuffer.wrap(Json.utf8(Json.digest(Json.utf8(text), 64) + "\n" + text));
            while (bytes.hasRemaining()) out.write(bytes);
            out.force(true);
        }
        try {
            Files.move(beside.toPath(), file.toPath(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException unusual) {
            throw new IOException("the account's file cannot be replaced atomically here", unusual);
        }
        FileChannel folder;
        try {
            folder = FileChannel.open(file.getParentFile().toPath(), StandardOpenOption.READ);
        } catch (IOException unsupported) {
            return; // Windows does not open folders
        }
        try (FileChannel directory = folder) {
            directory.force(true); // the new name, too
        }
    }
}
