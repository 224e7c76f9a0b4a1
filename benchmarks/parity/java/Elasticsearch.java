import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.elasticsearch.xcontent.NamedXContentRegistry;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.XContentType;
import org.elasticsearch.xpack.core.ml.inference.MlInferenceNamedXContentProvider;
import org.elasticsearch.xpack.core.ml.inference.TrainedModelConfig;
import org.elasticsearch.xpack.core.ml.inference.results.SingleValueInferenceResults;
import org.elasticsearch.xpack.core.ml.inference.trainedmodel.LearningToRankConfig;
import org.elasticsearch.xpack.core.ml.inference.trainedmodel.inference.InferenceDefinition;
import org.elasticsearch.xpack.core.ml.ltr.MlLTRNamedXContentProvider;

/** Reads bodies of PUT _ml/trained_models as strictly as Elasticsearch does, and infers from the fields x0, x1 and so on. */
public final class Elasticsearch {
    private static final XContentParserConfiguration PARSING = XContentParserConfiguration.EMPTY.withRegistry(registry());

    public static void main(String[] arguments) throws Exception {
        for (Path model : Jobs.models(arguments[0])) {
            byte[] body = Files.readAllBytes(model);
            try (XContentParser parser = parser(body)) {
                TrainedModelConfig.STRICT_PARSER.apply(parser, null).setModelId("model").validate(true);
            }
            InferenceDefinition definition = definition(body);
            float[][] rows = Jobs.rows(model);
            double[] scores = new double[rows.length];
            for (int row = 0; row < rows.length; ++row)
                scores[row] = ((SingleValueInferenceResults) definition.infer(fields(rows[row]), LearningToRankConfig.EMPTY_PARAMS)).value();
            Jobs.write(model, scores);
        }
    }

    private static NamedXContentRegistry registry() {
        List<NamedXContentRegistry.Entry> entries = new ArrayList<>(new MlInferenceNamedXContentProvider().getNamedXContentParsers());
        entries.addAll(new MlLTRNamedXContentProvider().getNamedXContentParsers());
        return new NamedXContentRegistry(entries);
    }

    private static XContentParser parser(byte[] content) throws Exception {
        return XContentType.JSON.xContent().createParser(PARSING, content);
    }

    /** The part "definition", as Elasticsearch stores it and loads it for inference. */
    private static InferenceDefinition definition(byte[] body) throws Exception {
        ByteArrayOutputStream part = new ByteArrayOutputStream();
        try (XContentParser parser = parser(body); XContentBuilder builder = new XContentBuilder(XContentType.JSON.xContent(), part)) {
            builder.value(parser.map().get("definition"));
        }
        try (XContentParser parser = parser(part.toByteArray())) {
            return InferenceDefinition.fromXContent(parser);
        }
    }

    /** A document without its missing values. */
    private static Map<String, Object> fields(float[] row) {
        Map<String, Object> fields = new HashMap<>();
        for (int column = 0; column < row.length; ++column)
            if (!Float.isNaN(row[column])) fields.put("x" + column, (double) row[column]);
        return fields;
    }
}
