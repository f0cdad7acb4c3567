/** The noun that each table belongs to. Tables of the kernel are for all. */
const tablesOf: Readonly<Record<string, string>> = {
  'kernel/database':
    'migration_checksums applied_functions run_takeovers tenant_clocks process_leases rate_limits wrong_guesses used_proofs stored_files file_usage deadlines events journal_origin event_streams idempotency_keys outbox audit_purges',
  'identity/customers': 'customers people',
  'identity/passkeys': 'passkeys passkey_challenges enrolment_grants',
  'identity/approvals': 'recorded_approvals change_requests deputies',
  'identity/people': 'person_links recoveries',
  'identity/console': 'console_sessions',
  'identity/keys': 'keys',
  'identity/signing-keys': 'signing_keys',
  'identity/sessions': 'sessions',
  'identity/onboarding': 'onboardings onboarding_representatives onboarding_beneficial_owners',
  'identity/kyc': 'kyc_submissions kyc_documents',
  'identity/sso': 'sso_providers sso_subjects sso_attempts',
  'money/ledger': 'ledger_accounts ledger_transfers ledger_holds ledger_entries',
  'money/wallets': 'wallets',
  'money/references': 'payment_references',
  'money/beneficiaries': 'beneficiaries',
  'money/transactions': 'transactions open_transactions',
  'money/refunds': 'refunds',
  'money/payment-methods': 'payment_methods',
  'money/incoming': 'incoming_credits',
  'money/fundings': 'fundings',
  'money/statements': 'statements',
  'money/exchange-rates': 'exchange_rates',
  'control/agents': 'agents',
  'control/budgets': 'owner_budgets counters reservations',
  'control/decisions': 'decisions',
  'control/agent-tokens': 'agent_tokens',
  'control/runs': 'runs',
  'control/delegations': 'delegations',
  'control/policies': 'policies policy_versions',
  'control/mandates': 'mandates',
  'control/risk': 'risk_profiles risk_merchants risk_events risk_alerts risk_configs',
  'control/card-terms': 'card_terms',
  'control/intents': 'intents approvals approval_openings',
  'control/oauth': 'oauth_clients oauth_grants',
  'cards/cards': 'cards card_numbers',
  'cards/filler-keys': 'filler_keys',
  'cards/access-events': 'access_events access_outcomes',
  'cards/credentials': 'credentials',
  'cards/agent-credentials': 'agent_credentials',
  'cards/card-requests': 'card_requests',
  'cards/authorizations': 'card_authorizations card_messages',
  'commerce/transfers': 'transfers transfer_limits transfer_days',
  'commerce/rails': 'sepa_files sepa_instructions sepa_messages sepa_notices',
  'commerce/checkout': 'checkout_sessions',
  'commerce/mpp-keys': 'mpp_keys',
  'commerce/mpp': 'mpp_answers mpp_credentials mpp_payments mpp_protect_rules',
  'commerce/payment-requests': 'payment_requests request_payments',
  'commerce/collect': 'payment_tokens mpp_settlements',
  'commerce/receipts': 'receipts',
  'commerce/doubtful-money': 'doubtful_money',
  'commerce/evidence': 'evidence',
  'commerce/disputes': 'disputes',
  'insight/spend': 'spend_position spend_counted spend_cells transaction_refunds merchant_names',
  'insight/outcomes': 'outcomes',
  'compliance/audit': 'audit_sealing audit_trees audit_seals audit_tiles audit_checkpoints',
  'compliance/gdpr': 'consents gdpr_exports gdpr_deletions',
  'compliance/security-incidents': 'security_incidents',
  'compliance/merchant-applications': 'merchant_applications',
  'delivery/webhooks':
    'webhooks webhook_versions deliveries delivery_position delivery_ranges retries_under_way',
  'delivery/channels': 'channels channel_settings channel_messages channel_hours',
  'delivery/push': 'vapid_keys push_subscriptions pushes',
  'surface/canvas': 'conversations conversation_turns',
  'surface/proposals': 'proposals',
  'surface/mcp': 'tool_calls',
}

export const homeOfTable: ReadonlyMap<string, string> = new Map(
  Object.entries(tablesOf).flatMap(([home, tables]) =>
    tables.split(' ').map(table => [table, home] as const),
  ),
)

const NAMED = /\b(?:from|join|update|into|using)\s+(\w+)/g
const STATEMENT = /\b(select|insert into|delete from|update \w+ set|join|exists)\b/

/** The tables that a text names, where it is SQL or a part of it. */
export const tablesInSql = (text: string): string[] =>
  STATEMENT.test(text)
    ? [...text.matchAll(NAMED)].map(([, name = '']) => name).filter(name => homeOfTable.has(name))
    : []
