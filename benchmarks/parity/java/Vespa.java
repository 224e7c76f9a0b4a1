import com.yahoo.searchlib.rankingexpression.RankingExpression;
import com.yahoo.searchlib.rankingexpression.evaluation.DoubleValue;
import com.yahoo.searchlib.rankingexpression.evaluation.MapContext;
import java.nio.file.Files;
import java.nio.file.Path;

/** Evaluates ranking expressions of the rank features attribute(x0), attribute(x1) and so on. */
public final class Vespa {
    public static void main(String[] arguments) throws Exception {
        for (Path model : Jobs.models(arguments[0])) {
            RankingExpression expression = new RankingExpression(Files.readString(model));
            float[][] rows = Jobs.rows(model);
            double[] scores = new double[rows.length];
            for (int row = 0; row < rows.length; ++row) {
                MapContext context = new MapContext();
                for (int column = 0; column < rows[row].length; ++column)
                    context.put("attribute(x" + column + ")", new DoubleValue(rows[row][column]));
                scores[row] = expression.evaluate(context).asDouble();
            }
            Jobs.write(model, scores);
        }
    }
}
