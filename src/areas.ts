import { accessEventsArea } from './cards/access-events/access-events.ts'
import { agentCredentialsArea } from './cards/agent-credentials/agent-credentials.ts'
import { authorizationsArea } from './cards/authorizations/authorizations.ts'
import { cardRequestsArea } from './cards/card-requests/card-requests.ts'
import { cardControlsArea, cardsArea } from './cards/cards/cards.ts'
import { credentialsArea } from './cards/credentials/credentials.ts'
import { fillerKeysArea } from './cards/filler-keys/filler-keys.ts'
import { checkoutArea } from './commerce/checkout/checkout.ts'
import { collectArea } from './commerce/collect/collect.ts'
import { payerPageArea } from './commerce/collect/payer-page/payer-page.ts'
import { settlementsArea } from './commerce/collect/payment-required/settlements.ts'
import { paymentTokensArea } from './commerce/collect/payment-tokens/payment-tokens.ts'
import { disputesArea } from './commerce/disputes/disputes.ts'
import { doubtfulMoneyArea } from './commerce/doubtful-money/doubtful-money.ts'
import { evidenceArea } from './commerce/evidence/evidence.ts'
import { mppArea } from './commerce/mpp/mpp.ts'
import { mppKeysArea } from './commerce/mpp-keys/mpp-keys.ts'
import { railsArea } from './commerce/rails/rails.ts'
import { receiptsArea } from './commerce/receipts/receipts.ts'
import { refundsArea } from './commerce/refunds/refunds.ts'
import { transfersArea } from './commerce/transfers/transfers.ts'
import { auditArea } from './compliance/audit/audit.ts'
import { gdprArea } from './compliance/gdpr/gdpr.ts'
import { merchantApplicationsArea } from './compliance/merchant-applications/merchant-applications.ts'
import { securityIncidentsArea } from './compliance/security-incidents/security-incidents.ts'
import { agentTokensArea } from './control/agent-tokens/agent-tokens.ts'
import { agentsArea } from './control/agents/agents.ts'
import { changeRequestsArea } from './control/change-requests/change-requests.ts'
import { delegationsArea } from './control/delegations/delegations.ts'
import { intentsArea } from './control/intents/intents.ts'
import { mandatesArea } from './control/mandates/mandates.ts'
import { connectedAssistantsArea } from './control/oauth/assistants.ts'
import { oauthArea } from './control/oauth/oauth.ts'
import { policiesArea } from './control/policies/policies.ts'
import { riskArea } from './control/risk/risk.ts'
import { runsArea } from './control/runs/runs.ts'
import { channelsArea } from './delivery/channels/channels.ts'
import { eventsArea } from './delivery/events/events.ts'
import { pushArea } from './delivery/push/push.ts'
import { webhooksArea } from './delivery/webhooks/webhooks.ts'
import { cliAuthArea } from './identity/cli-auth/cli-auth.ts'
import { consoleArea } from './identity/console/console.ts'
import { customersArea } from './identity/customers/customers.ts'
import { deputiesArea } from './identity/deputies/deputies.ts'
import { apiKeysArea } from './identity/keys/keys.ts'
import { kycArea } from './identity/kyc/kyc.ts'
import { onboardingArea } from './identity/onboarding/onboarding.ts'
import { passkeysArea } from './identity/passkeys/passkeys.ts'
import { peopleArea } from './identity/people/people.ts'
import { sessionsArea } from './identity/sessions/sessions.ts'
import { signingKeysArea } from './identity/signing-keys/signing-keys.ts'
import { ssoArea } from './identity/sso/sso.ts'
import { analyticsArea } from './insight/analytics/analytics.ts'
import { forecastArea } from './insight/forecast/forecast.ts'
import { intelligenceArea } from './insight/intelligence/intelligence.ts'
import { merchantsArea } from './insight/merchants/merchants.ts'
import { outcomesArea } from './insight/outcomes/outcomes.ts'
import { beneficiariesArea } from './money/beneficiaries/beneficiaries.ts'
import { billingArea } from './money/billing/billing.ts'
import { exchangeRatesArea } from './money/exchange-rates/exchange-rates.ts'
import { fundingsArea } from './money/fundings/fundings.ts'
import { incomingArea } from './money/incoming/incoming.ts'
import { ledgerArea } from './money/ledger/ledger.ts'
import { statementsArea } from './money/statements/statements.ts'
import { transactionsArea } from './money/transactions/transactions.ts'
import { walletsArea } from './money/wallets/wallets.ts'
import { canvasArea } from './surface/canvas/canvas.ts'
import { consoleBrowserArea } from './surface/console/browser/browser.ts'
import { consoleViewArea } from './surface/console/console.ts'
import { consolePagesArea } from './surface/console-pages/console-pages.ts'
import { healthArea } from './surface/health/health.ts'
import { mcpArea } from './surface/mcp/mcp.ts'
import { mppMerchantsArea } from './surface/mpp-merchants/mpp-merchants.ts'
import { pagesArea } from './surface/pages/pages.ts'
import { proposalsArea } from './surface/proposals/proposals.ts'
import { sandboxArea } from './surface/sandbox/sandbox.ts'
import { wellKnownArea } from './surface/well-known/well-known.ts'

/** The one list of areas, left to right in the order of what depends on what. */
export const areas = {
  customers: customersArea,
  passkeys: passkeysArea,
  people: peopleArea,
  deputies: deputiesArea,
  keys: apiKeysArea,
  signingKeys: signingKeysArea,
  console: consoleArea,
  sso: ssoArea,
  sessions: sessionsArea,
  cliAuth: cliAuthArea,
  onboarding: onboardingArea,
  kyc: kycArea,
  ledger: ledgerArea,
  wallets: walletsArea,
  beneficiaries: beneficiariesArea,
  transactions: transactionsArea,
  fund: fundingsArea,
  billing: billingArea,
  exchangeRates: exchangeRatesArea,
  incoming: incomingArea,
  statements: statementsArea,
  agents: agentsArea,
  agentTokens: agentTokensArea,
  merchants: merchantsArea,
  runs: runsArea,
  delegations: delegationsArea,
  policies: policiesArea,
  changeRequests: changeRequestsArea,
  mandates: mandatesArea,
  risk: riskArea,
  intents: intentsArea,
  oauth: oauthArea,
  connectedAssistants: connectedAssistantsArea,
  cards: cardsArea,
  cardControls: cardControlsArea,
  fillerKeys: fillerKeysArea,
  accessEvents: accessEventsArea,
  credentials: credentialsArea,
  agentCredentials: agentCredentialsArea,
  cardRequests: cardRequestsArea,
  authorizations: authorizationsArea,
  transfers: transfersArea,
  rails: railsArea,
  checkout: checkoutArea,
  mppKeys: mppKeysArea,
  mpp: mppArea,
  collect: collectArea,
  paymentTokens: paymentTokensArea,
  settlements: settlementsArea,
  payerPage: payerPageArea,
  receipts: receiptsArea,
  refunds: refundsArea,
  evidence: evidenceArea,
  disputes: disputesArea,
  doubtfulMoney: doubtfulMoneyArea,
  outcomes: outcomesArea,
  analytics: analyticsArea,
  forecast: forecastArea,
  intelligence: intelligenceArea,
  events: eventsArea,
  webhooks: webhooksArea,
  push: pushArea,
  channels: channelsArea,
  audit: auditArea,
  securityIncidents: securityIncidentsArea,
  merchantApplications: merchantApplicationsArea,
  gdpr: gdprArea,
  sandbox: sandboxArea,
  mppMerchants: mppMerchantsArea,
  proposals: proposalsArea,
  assistants: mcpArea,
  canvas: canvasArea,
  health: healthArea,
  wellKnown: wellKnownArea,
  pages: pagesArea,
  consolePages: consolePagesArea,
  consoleBrowser: consoleBrowserArea,
  consoleView: consoleViewArea,
}
