import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.solr.client.solrj.SolrQuery;
import org.apache.solr.client.solrj.embedded.EmbeddedSolrServer;
import org.apache.solr.common.SolrDocument;
import org.apache.solr.common.SolrDocumentList;
import org.apache.solr.common.SolrInputDocument;
import org.apache.solr.common.util.Utils;
import org.apache.solr.core.CoreContainer;
import org.apache.solr.core.SolrCore;
import org.apache.solr.ltr.feature.FieldValueFeature;
import org.apache.solr.ltr.store.rest.ManagedFeatureStore;
import org.apache.solr.ltr.store.rest.ManagedModelStore;

/** Indexes the documents with the fields x0, x1 and so on, and re-ranks them with the model. */
public final class Solr {
    public static void main(String[] arguments) {
        try {
            score(arguments);
        } catch (Exception problem) {
            problem.printStackTrace();
            System.exit(1);  // threads of Solr would go on otherwise
        }
        System.exit(0);
    }

    private static void score(String[] arguments) throws Exception {
        CoreContainer container = new CoreContainer(Path.of(arguments[1]), new java.util.Properties());
        container.load();
        try (EmbeddedSolrServer server = new EmbeddedSolrServer(container, "documents")) {
            int number = 0;
            for (Path model : Jobs.models(arguments[0])) {
                float[][] rows = Jobs.rows(model);
                add(container, model, rows[0].length);
                server.deleteByQuery("*:*");
                server.add(documents(rows));
                server.commit();
                Jobs.write(model, ranked(server, "model" + number++, rows.length));
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static void add(CoreContainer container, Path model, int columns) throws Exception {
        Map<String, Object> content = (Map<String, Object>) Utils.fromJSONString(Files.readString(model));
        try (SolrCore core = container.getCore("documents")) {
            ManagedFeatureStore features = ManagedFeatureStore.getManagedFeatureStore(core);
            String store = (String) content.get("name");
            content.put("store", store);
            for (int column = 0; column < columns; ++column) {
                Map<String, Object> feature = new HashMap<>();
                feature.put("name", "x" + column);
                feature.put("class", FieldValueFeature.class.getName());
                feature.put("params", new HashMap<>(Map.of("field", "x" + column)));
                features.addFeature(feature, store);
            }
            ManagedModelStore models = ManagedModelStore.getManagedModelStore(core);
            models.addModel(ManagedModelStore.fromLTRScoringModelMap(core.getResourceLoader(), content, features));
        }
    }

    private static List<SolrInputDocument> documents(float[][] rows) {
        List<SolrInputDocument> documents = new ArrayList<>();
        for (int row = 0; row < rows.length; ++row) {
            SolrInputDocument document = new SolrInputDocument("id", Integer.toString(row));
            for (int column = 0; column < rows[row].length; ++column)
                if (!Float.isNaN(rows[row][column])) document.addField("x" + column, rows[row][column]);
            documents.add(document);
        }
        return documents;
    }

    /** The score of every document; the list must fall. */
    private static double[] ranked(EmbeddedSolrServer server, String model, int count) throws Exception {
        SolrQuery query = new SolrQuery("*:*").setFields("id", "score").setRows(count);
        query.set("rq", "{!ltr model=" + model + " reRankDocs=" + count + "}");
        SolrDocumentList found = server.query(query).getResults();
        if (found.size() != count) throw new IllegalStateException(found.size() + " documents of " + count);
        double[] scores = new double[count];
        float before = Float.POSITIVE_INFINITY;
        for (SolrDocument document : found) {
            float score = (Float) document.getFieldValue("score");
            if (score > before) throw new IllegalStateException("the scores do not fall");
            scores[Integer.parseInt((String) document.getFieldValue("id"))] = before = score;
        }
        return scores;
    }
}
