import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** Pays by the client of Java that openapi-generator has written from openapi.json. */
public class Pay {
  private static final String SERVICE = System.getenv("AGENTPAY_URL");

  private static ApiClient as(String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(SERVICE);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    return client;
  }

  private static BigDecimal euros(String amount) {
    return new BigDecimal(amount);
  }

  /** An agent with a policy, money, a card and a token of its own. */
  private static CreatedAgentToken anAgent(ApiClient owner) throws ApiException {
    Wallet wallet =
        new WalletsApi(owner).walletsCreate(new WalletsCreateRequest().name("Research"), null, null, null);
    new WalletsApi(owner)
        .fundWallet(wallet.getId(), new FundWalletRequest().amountEuros(euros("100")), null, null, null);
    PolicyCreateRequest rules =
        new PolicyCreateRequest()
            .name("Research")
            .maxTransactionEuros(euros("50"))
            .autoApproveLimitEuros(euros("2"));
    Policy policy = new PoliciesApi(owner).policiesCreate(rules, null, null, null);
    AgentsCreateRequest reader = new AgentsCreateRequest().name("Reader").policyId(policy.getId());
    Agent agent = new AgentsApi(owner).agentsCreate(reader, null, null, null);
    AgentsFundRequest funds =
        new AgentsFundRequest().amountEuros(euros("20")).fromWalletId(wallet.getId());
    new AgentsApi(owner).agentsFund(agent.getId(), funds, null, null, null);
    CardsCreateRequest card =
        new CardsCreateRequest().agentId(agent.getId()).usage(CardsCreateRequest.UsageEnum.MULTI);
    new CardsApi(owner).cardsCreate(card, null, null, null);
    AgentTokensCreateRequest label =
        new AgentTokensCreateRequest()
            .label("first")
            .scopes(List.of(AgentTokensCreateRequest.ScopesEnum.PAYER));
    return new AgentTokensApi(owner).agentTokensCreate(agent.getId(), label, null, null, null);
  }

  /** The names of all agents, a page of one at a time. */
  private static List<String> agentsByPage(ApiClient owner) throws ApiException {
    List<String> names = new ArrayList<>();
    String cursor = null;
    do {
      AgentPage page = new AgentsApi(owner).agentsList(null, null, null, 1, cursor, null, null);
      for (Agent agent : page.getData()) names.add(agent.getName());
      cursor = page.getNextCursor();
    } while (cursor != null);
    return names;
  }

  /** What the service says where it refuses to pay. */
  private static List<Object> refused(MppApi pay, MppPayRequest purchase) throws Exception {
    try {
      pay.mppPay(purchase, null, null, null, null);
    } catch (ApiException refusal) {
      String code = refusal.getResponseHeaders().firstValue("X-Error-Code").orElseThrow();
      org.openapitools.client.model.Error error =
          ApiClient.createDefaultObjectMapper()
              .readValue(refusal.getResponseBody(), org.openapitools.client.model.Error.class);
      return List.of(refusal.getCode(), code, error.getError());
    }
    throw new IllegalStateException("an intent that no one has approved is paid");
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient owner = as(System.getenv("AGENTPAY_KEY"));
    ApiClient self = as(anAgent(owner).getToken());
    IntentsCreateRequest wish =
        new IntentsCreateRequest()
            .amountEuros(euros("2.5"))
            .merchant(URI.create(SERVICE).getHost())
            .purpose("A report");
    Intent intent = new IntentsApi(self).intentsCreate(wish, "report-1", null, null);
    MppPayRequest purchase =
        new MppPayRequest().url(SERVICE + "/simulate/mpp/paid").intentId(intent.getId());
    List<Object> refused = refused(new MppApi(self), purchase);
    new IntentsApi(owner)
        .intentsApprove(intent.getId(), null, null, new IntentsApproveRequest());
    MppPayment payment = new MppApi(self).mppPay(purchase, null, null, null, null);
    Intent paid = new IntentsApi(self).intentsGet(intent.getId(), null, null);
    new AgentsApi(owner).agentsCreate(new AgentsCreateRequest().name("Writer"), null, null, null);
    Map<String, Object> told =
        Map.of(
            "declared", intent.getStatus().getValue(),
            "refused", refused,
            "merchantStatus", payment.getMerchantStatus(),
            "status", paid.getStatus().getValue(),
            "agents", agentsByPage(owner));
    System.out.println(new ObjectMapper().writeValueAsString(told));
  }
}
