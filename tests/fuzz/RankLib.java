import ciir.umass.edu.learning.DenseDataPoint;
import ciir.umass.edu.learning.Ranker;
import ciir.umass.edu.learning.RankerFactory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.Base64;

/** Answers every line of standard input as makers.py says. A missing value is 0, as in RankLib's data files. */
public final class RankLib {
    private RankLib() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err); // RankLib writes to standard output
        RankerFactory factory = new RankerFactory();
        answers.println("ready");
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] parts = line.split("\t");
            answers.println(answer(factory, parts[0], Integer.parseInt(parts[1]), parts[2]));
        }
    }

    private static String answer(RankerFactory factory, String path, int width, String packed) {
        FloatBuffer values = ByteBuffer.wrap(Base64.getDecoder().decode(packed)).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        double[] scores = new double[values.remaining() / width];
        try {
            Ranker ranker = factory.loadRankerFromFile(path);
            for (int row = 0; row < scores.length; ++row) scores[row] = ranker.eval(document(values, width));
        } catch (Exception | StackOverflowError refused) {
            return "null";
        }
        return Arrays.toString(scores);
    }

    private static DenseDataPoint document(FloatBuffer values, int width) {
        StringBuilder text = new StringBuilder("0 qid:1");
        for (int feature = 1; feature <= width; ++feature) {
            float value = values.get();
            text.append(' ').append(feature).append(':').append(Float.isNaN(value) ? 0.0f : value);
        }
        return new DenseDataPoint(text.toString());
    }
}
