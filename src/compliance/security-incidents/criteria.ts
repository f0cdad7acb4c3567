import { z } from 'zod'
import { countrySchema } from '../../values/schemas.ts'

/** The countries of the European Union and the European Economic Area, where the regulation applies. */
export const EEA_COUNTRIES = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(' '),
)

const count = (description: string) =>
  z.int().min(0).max(1_000_000_000).nullable().default(null).meta({ description })
const amount = (description: string) =>
  z
    .number()
    .min(0)
    .max(1_000_000_000_000)
    .refine(number => /^\d+(\.\d{1,2})?$/.test(String(number)), 'at most two decimals')
    .nullable()
    .default(null)
    .meta({ description })
const yes = (description: string) => z.boolean().default(false).meta({ description })

/** The criteria of Delegated Regulation (EU) 2024/1772. Null: not known yet. */
export const classificationCriteriaSchema = z
  .strictObject({
    clientsAffected: count('Clients who cannot use the service, or who are harmed.'),
    clientsOfService: count('All clients that use the affected service.'),
    counterpartsAffected: count('Affected financial counterparts.'),
    counterpartsOfService: count('All financial counterparts of the affected service.'),
    transactionsAffected: count('Affected transactions.'),
    transactionsADay: count('Transactions on an average day.'),
    transactionsAffectedEuros: amount('Value of the affected transactions.'),
    transactionsADayEuros: amount('Value of the transactions on an average day.'),
    relevantClientsAffected: yes('Clients or counterparts on whom the business depends are affected.'),
    inMedia: yes('Media have reported it.'),
    repeatedComplaints: yes('Different clients complain repeatedly.'),
    requirementsMissed: yes('Regulatory requirements cannot be met, or probably cannot.'),
    clientsLeaving: yes('Clients leave, or probably will, with an effect on the business.'),
    durationMinutes: count('Minutes from its beginning until it is resolved. An estimate is enough.'),
    downtimeMinutes: count('Minutes for which the service was unavailable, wholly or in part.'),
    memberStates: z
      .array(countrySchema)
      .max(30)
      .default([])
      .meta({ description: 'Member States that are affected.', examples: [['DE', 'AT']] }),
    dataLosses: yes(
      'Availability, authenticity, integrity or confidentiality of data is lost, and that harms the aims of the business or its duties.',
    ),
    maliciousAccess: yes('A malicious, unauthorised access, which may cause data losses.'),
    criticalServices: yes(
      'The incident affects services or systems that support critical or important functions, or services that need an authorisation, or is a malicious access.',
    ),
    costsEuros: amount('Costs and losses, including expected ones.'),
    recurring: yes(
      'The incident has occurred twice within six months with the same cause, and together the incidents meet the thresholds.',
    ),
    estimated: yes('The numbers are estimates.'),
  })
  .meta({ id: 'IncidentCriteria' })

export type ClassificationCriteria = z.output<typeof classificationCriteriaSchema>

export const classificationCriteria = [
  'critical_services',
  'clients_counterparts_transactions',
  'reputation',
  'duration_and_downtime',
  'geographical_spread',
  'data_losses',
  'malicious_access',
  'economic_impact',
  'recurring',
] as const

export interface CriterionFinding {
  readonly criterion: (typeof classificationCriteria)[number]
  readonly article: string
  readonly isMet: boolean
  readonly reasons: readonly string[]
}

interface Assessment {
  /** Whether the thresholds of a major incident are met. A person decides. */
  readonly meetsThresholds: boolean
  readonly reason: string
  readonly findings: readonly CriterionFinding[]
}

const ARTICLE = 'Delegated Regulation (EU) 2024/1772, Article'

const finding = (
  criterion: CriterionFinding['criterion'],
  article: string,
  reasons: readonly (string | false | undefined)[],
): CriterionFinding => {
  const held = reasons.filter(reason => typeof reason === 'string')
  return {
    criterion,
    article: `${ARTICLE} ${article}`,
    isMet: held.length > 0,
    reasons: held.length > 0 ? held : ['No known figure meets it.'],
  }
}

function above(percent: number, part: number | null, whole: number | null, what: string): string | false {
  if (part === null || whole === null || part * 100 <= whole * percent) return false
  const share = whole === 0 ? '' : ` (${Math.round((part * 1_000) / whole) / 10} %)`
  return `${part} of ${whole} ${what}${share}: more than ${percent} %.`
}

const clients = (known: ClassificationCriteria): CriterionFinding =>
  finding('clients_counterparts_transactions', '9(1)', [
    above(10, known.clientsAffected, known.clientsOfService, 'clients'),
    (known.clientsAffected ?? 0) > 100_000 && `${known.clientsAffected} clients: more than 100,000.`,
    above(30, known.counterpartsAffected, known.counterpartsOfService, 'financial counterparts'),
    above(10, known.transactionsAffected, known.transactionsADay, 'transactions of an average day'),
    above(10, known.transactionsAffectedEuros, known.transactionsADayEuros, 'euros of an average day'),
    known.relevantClientsAffected && 'Clients or counterparts on whom the business depends are affected.',
  ])

const reputation = (known: ClassificationCriteria): CriterionFinding =>
  finding('reputation', '9(2) with 2', [
    known.inMedia && 'Media have reported it.',
    known.repeatedComplaints && 'Different clients complain repeatedly.',
    known.requirementsMissed && 'Regulatory requirements cannot be met, or probably cannot.',
    known.clientsLeaving && 'Clients leave, or probably will.',
  ])

const duration = ({
  durationMinutes,
  downtimeMinutes,
  criticalServices,
}: ClassificationCriteria): CriterionFinding =>
  finding('duration_and_downtime', '9(3)', [
    (durationMinutes ?? 0) > 24 * 60 && `It lasted ${durationMinutes} minutes: longer than 24 hours.`,
    criticalServices &&
      (downtimeMinutes ?? 0) > 2 * 60 &&
      `A service that supports critical or important functions was away for ${downtimeMinutes} minutes: longer than 2 hours.`,
  ])

function geography({ memberStates }: ClassificationCriteria): CriterionFinding {
  const states = [...new Set(memberStates)].filter(state => EEA_COUNTRIES.has(state))
  return finding('geographical_spread', '9(4)', [
    states.length >= 2 && `Affected: ${states.join(', ')}, two Member States or more.`,
  ])
}

const economy = ({ costsEuros }: ClassificationCriteria): CriterionFinding =>
  finding('economic_impact', '9(6)', [
    (costsEuros ?? 0) > 100_000 && `Costs and losses of € ${costsEuros}: more than € 100,000.`,
  ])

/** Applies the thresholds: critical services, and malicious access or two of the other criteria (Article 8). */
export function assessIncidentSeverity(known: ClassificationCriteria): Assessment {
  const critical = finding('critical_services', '6', [
    known.criticalServices && 'Critical services are affected.',
  ])
  const malicious = finding('malicious_access', '9(5)(b)', [
    known.maliciousAccess && 'A malicious access by which data may be lost.',
  ])
  const losses = finding('data_losses', '9(5)(a)', [
    known.dataLosses && 'Data losses harm the aims of the business or its duties.',
  ])
  const others = [
    clients(known),
    reputation(known),
    duration(known),
    geography(known),
    losses,
    economy(known),
  ]
  const recurring = finding('recurring', '8(2)', [
    known.recurring && 'Twice within six months by the same cause, and together above the thresholds.',
  ])
  const [first, ...rest] = others
  const findings = [critical, first as CriterionFinding, ...rest, malicious, recurring]
  return { ...verdict(critical, malicious, recurring, others), findings }
}

function verdict(
  critical: CriterionFinding,
  malicious: CriterionFinding,
  recurring: CriterionFinding,
  others: readonly CriterionFinding[],
) {
  if (recurring.isMet)
    return {
      meetsThresholds: true,
      reason: 'Recurring incidents count as one major incident (Article 8(2)).',
    }
  if (!critical.isMet)
    return { meetsThresholds: false, reason: 'No critical services are affected (Article 8(1)).' }
  if (malicious.isMet)
    return {
      meetsThresholds: true,
      reason: 'Critical services are affected by a malicious access (Article 8(1)(a)).',
    }
  const met = others.filter(({ isMet }) => isMet).length
  return {
    meetsThresholds: met >= 2,
    reason: `Critical services are affected, and ${met} of the other thresholds are met: two are needed (Article 8(1)(b)).`,
  }
}
