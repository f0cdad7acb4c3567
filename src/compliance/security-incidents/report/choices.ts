import { EEA_COUNTRIES as STATES } from '../criteria.ts'

/** The allowed values of fields, as in the authorities' JSON schema IR-1.2. Those of field 3.13 are shortened. */

export const MEMBER_STATE_CHOICES = [...STATES]

export const ENTITY_TYPE_CHOICES = [
  'credit institution',
  'payment institution',
  'exempted payment institution',
  'account information service provider',
  'electronic money institution',
  'exempted electronic money institution',
  'investment firm',
  'crypto-asset service provider',
  'issuer of asset-referenced tokens',
  'central securities depository',
  'central counterparty',
  'trading venue',
  'trade repository',
  'manager of alternative investment fund',
  'management company',
  'data reporting service provider',
  'insurance and reinsurance undertaking',
  'insurance intermediary, reinsurance intermediary and ancillary insurance intermediary',
  'institution for occupational retirement provision',
  'credit rating agency',
  'administrator of critical benchmarks',
  'crowdfunding service provider',
  'securitisation repository',
] as const

export const CRITERION_CHOICES = {
  clients: 'clients, financial counterparts and transactions affected',
  reputation: 'reputational impact',
  duration: 'duration and service downtime',
  geography: 'geographical spread',
  data: 'data losses',
  critical: 'critical services affected',
  economy: 'economic impact',
} as const

export const DISCOVERER_CHOICES = [
  'IT security',
  'staff',
  'internal audit',
  'external audit',
  'clients',
  'financial counterparts',
  'third-party provider',
  'attacker',
  'monitoring systems',
  'authority/agency/law enforcement body',
  'other',
] as const

const COUNTED = ['clients', 'financial counterparts', 'transactions'] as const
export const FIGURE_CHOICES = [
  ...COUNTED.map(what => `actual figures for ${what} affected`),
  ...COUNTED.map(what => `estimates for ${what} affected`),
  ...COUNTED.map(what => `no impact on ${what}`),
]

export const REPUTATION_CHOICES = {
  media: 'reflected in the media',
  complaints: 'repetitive complaints',
  requirements: 'regulatory requirements not met',
  clients: 'loss of clients or financial counterparts',
} as const

export const TIME_FIGURE_CHOICES = [
  'actual figures',
  'estimates',
  'actual figures and estimates',
  'no information available',
]

export const IMPACT_CHOICES = [
  'clients',
  'financial counterparts',
  'branch of the financial entity',
  'financial entities within the group carrying out activities in the respective Member State',
  'financial market infrastructure',
  'third-party providers that may be common to other financial entities',
] as const

export const DATA_LOSS_CHOICES = ['availability', 'authenticity', 'integrity', 'confidentiality'] as const

export const INCIDENT_TYPE_CHOICES = {
  cybersecurity: 'cybersecurity-related',
  process_failure: 'process failure',
  system_failure: 'system failure',
  external_event: 'external event',
  payment_related: 'payment-related',
  other: 'other',
} as const

export const ATTACK_TECHNIQUE_CHOICES = [
  'social engineering, including phishing',
  '(D)DoS',
  'identity theft',
  'data encryption for impact, including ransomware',
  'resource hijacking',
  'data exfiltration and manipulation, excluding identity theft',
  'data destruction',
  'defacement',
  'supply-chain attack',
  'other',
] as const

export const YES_NO_UNKNOWN_CHOICES = ['yes', 'no', 'information not available'] as const

export const AUTHORITY_CHOICES = [
  'police/law enforcement',
  'CSIRT',
  'data protection authority',
  'national cybersecurity agency',
  'none',
  'other',
] as const

export const ROOT_CAUSE_CHOICES = [
  'malicious actions',
  'process failure',
  'system failure/malfunction',
  'human error',
  'external event',
] as const

export const SUBDIVIDED_CAUSE_CHOICES = [
  'process failure: insufficient monitoring or failure of monitoring and control',
  'process failure: ICT risk management process failure',
  'process failure: insufficient or failure of ICT operations and ICT security operations',
  'process failure: inadequate ICT systems acquisition, development and maintenance',
] as const

export const OTHER_CAUSE_CHOICES = [
  'process failure: other',
  'system failure: other',
  'human error: other',
  'external event: other',
] as const

export const DETAILED_CAUSE_CHOICES = [
  'malicious actions: deliberate internal actions',
  'malicious actions: deliberate physical damage/manipulation/theft',
  'malicious actions: fraudulent actions',
  ...SUBDIVIDED_CAUSE_CHOICES,
  'process failure: insufficient/unclear roles and responsibilities',
  'process failure: insufficient or failure of ICT project management',
  'process failure: inadequacy of internal policies, procedures and documentation',
  'system failure: hardware capacity and performance',
  'system failure: hardware maintenance',
  'system failure: hardware obsolescence/ageing',
  'system failure: software compatibility/configuration',
  'system failure: software performance',
  'system failure: network configuration',
  'system failure: physical damage',
  'human error: omission',
  'human error: mistake',
  'human error: skills and knowledge',
  'human error: inadequate human resources',
  'human error: miscommunication',
  'external event: natural disasters/force majeure',
  'external event: third-party failures',
  ...OTHER_CAUSE_CHOICES,
] as const

export const ADDITIONAL_CAUSE_CHOICES = [
  'monitoring of policy adherence',
  'monitoring of third-party service providers',
  'monitoring and verification of remediation of vulnerabilities',
  'identity and access management',
  'encryption and cryptography',
  'logging',
  'failure in specifying accurate risk tolerance levels',
  'insufficient vulnerability and threat assessments',
  'inadequate risk treatment measures',
  'poor management of residual ICT risks',
  'vulnerability and patch management',
  'change management',
  'capacity and performance management',
  'ICT asset management and information classification',
  'backup and restore',
  'error handling',
  'inadequate ICT systems acquisition, development and maintenance',
  'insufficient or failure of software testing',
] as const
