import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A folder with files model0, rows0, model1, rows1 and so on; the scores of each are written to scores0, scores1. */
final class Jobs {
    private Jobs() {}

    static List<Path> models(String folder) {
        List<Path> models = new ArrayList<>();
        for (int number = 0; Files.exists(Path.of(folder, "model" + number)); ++number)
            models.add(Path.of(folder, "model" + number));
        return models;
    }

    /** The documents of a model: two integers, the numbers of rows and columns, and the values row by row. */
    static float[][] rows(Path model) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(beside(model, "rows"))))) {
            float[][] rows = new float[in.readInt()][in.readInt()];
            for (float[] row : rows)
                for (int column = 0; column < row.length; ++column) row[column] = in.readFloat();
            return rows;
        }
    }

    static void write(Path model, double[] scores) throws IOException {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(beside(model, "scores"))))) {
            for (double score : scores) out.writeDouble(score);
        }
    }

    private static Path beside(Path model, String name) {
        return model.resolveSibling(model.getFileName().toString().replace("model", name));
    }
}
