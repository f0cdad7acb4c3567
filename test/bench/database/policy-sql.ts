import { AGENTS } from './intent-rows.ts'
import { byValues, eventsOf, type Insert, publish, transaction } from './journal-sql.ts'
import { KEY, type SqlEquivalent } from './pgbench.ts'

const POLICY = `'policy_' || :key`

const WHOLE = `select * from policies
  where owner_id = :owner and mode = 'test' and id = 'policy_bench_' || :n and deleted_at is null`

export const readPolicyInSql: SqlEquivalent = {
  draw: [`n random(1, ${AGENTS})`],
  scripts: { statements: WHOLE },
}

/** The spaces after colons keep pgbench from taking them for variables. */
const EVENT_DATA = `{"policyId":"policy_01kagp6mybf2ktzn5dx2q8fjzd","agentId": null,"templateId": null,
  "name":"Research budget","version":1}`

const RULES = `{"name":"Research budget","maxTransactionEuros":250,"dailyLimitEuros":500,"monthlyLimitEuros": null,
  "autoApproveLimitEuros": null,"merchantAllowlist":[],"merchantBlocklist":[],"mccCategories":["software","publishing"],
  "allowedCountries":["DE","FR"],"lockToFirstMerchant": false,"cooldownMinutes": null,"allowedMccs":[],"blockedMccs":[],
  "requireIntent": true,"requireAttestation": false,"attestationWindowMinutes": null,"expiresAfterMinutes": null,
  "expirationAction":"notify","activeHoursStart": null,"activeHoursEnd": null,"maxUsageCount": null,
  "amountTolerancePercent": null}`

const about = { agent: 'null', data: EVENT_DATA }

const written: readonly Insert[] = [
  {
    into: `insert into policies (id, owner_id, mode, created_at, updated_at, overridden, version, name,
      max_transaction_cents, daily_limit_cents, merchant_allowlist, merchant_blocklist, mcc_categories,
      allowed_countries, lock_to_first_merchant, allowed_mccs, blocked_mccs, require_intent, require_attestation,
      expiration_action)`,
    rows: [
      `${POLICY}, :owner, 'test', now(), now(), '{}', 1, 'Research budget', 25000, 50000, '{}', '{}',
        '{software,publishing}', '{DE,FR}', false, '{}', '{}', true, false, 'notify'`,
    ],
  },
  {
    into: `insert into policy_versions (id, owner_id, mode, created_at, updated_at, policy_id, version, rules,
      changed_by_type, changed_by_id)`,
    rows: [
      `'policyversion_' || :key, :owner, 'test', now(), now(), ${POLICY}, 1, '${RULES}', 'key', 'key_bench'`,
    ],
  },
  ...eventsOf('policies.create', ['policy.created'], about),
]

export const createPolicyInSql: SqlEquivalent = {
  draw: [KEY],
  scripts: { statements: transaction([...written.map(byValues), publish('policy.created', about)]) },
}
