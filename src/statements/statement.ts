import { createHash } from 'node:crypto'
import { canonicalJson } from '../values/canonical-json.ts'
import { formatMinute } from '../values/minute.ts'
import { commitmentTo, type Openings, opened, withPersonal } from './commitments.ts'
import type {
  AmountText,
  Kind,
  StatedAssistant,
  StatedConstraints,
  StatedPayee,
  StatedProvider,
  StatedWidening,
  Subjects,
} from './subjects.ts'

/** What a person signs. Personal members of its subject are commitments. */
export interface Statement<K extends Kind = Kind> {
  readonly version: 1
  readonly kind: K
  readonly origin: string
  readonly mode: 'test' | 'live'
  readonly subject: Readonly<Record<string, unknown>>
  readonly nonce: string
  /** ISO 8601. After this it cannot be signed. */
  readonly expiresAt: string
}

/** The members that name a person, an account or an address; `*` stands for any index. */
const personal: Readonly<Record<Kind, readonly string[]>> = {
  intent: ['payee.name', 'payee.iban', 'agentName', 'purpose', 'person'],
  payment: ['payees.*.name', 'payees.*.iban'],
  mandate: [],
  revocation: ['name'],
  enrolment: ['name'],
  invitation: ['name', 'email'],
  key: [],
  deletion: [],
  device: ['deviceName'],
  pairing: ['deviceName'],
  widening: ['changes.*.name', 'changes.*.from', 'changes.*.to'],
  registration: [],
  sign_in: [],
}

interface Circumstances {
  readonly origin: string
  readonly mode: 'test' | 'live'
  readonly nonce: string
  readonly expiresAt: string
  /** The salt of the value at this place, always of the same length. */
  readonly salt: (place: string) => string
}

export function newStatement<K extends Kind>(
  kind: K,
  subject: Subjects[K],
  { origin, mode, nonce, expiresAt, salt }: Circumstances,
): { statement: Statement<K>; openings: Openings } {
  const openings: Record<string, { value: string; salt: string }> = {}
  const committed = withPersonal(subject, personal[kind], (value, place) => {
    const opening = { value, salt: salt(place) }
    openings[place] = opening
    return commitmentTo(value, opening.salt)
  }) as Statement['subject']
  return {
    statement: { version: 1, kind, origin, mode, subject: committed, nonce, expiresAt },
    openings,
  }
}

/** The challenge that a device signs: the digest of the statement's canonical JSON (RFC 8785), in base64url. */
export const challengeOf = (statement: Statement): string =>
  createHash('sha256').update(canonicalJson(statement)).digest('base64url')

export function agrees<K extends Kind>(
  statement: Statement,
  openings: Openings,
  { kind, members }: { readonly kind: K; readonly members: Subjects[K] },
): boolean {
  if (statement.kind !== kind) return false
  // A value that was not stated gets no salt, so its commitment equals no stated one.
  const expected = withPersonal(members, personal[kind], (value, place) =>
    commitmentTo(value, openings[place]?.salt ?? ''),
  )
  return canonicalJson(expected) === canonicalJson(statement.subject)
}

export const sentenceOf = ({ kind, subject }: Statement, openings: Openings): string =>
  (sentences[kind] as (subject: unknown) => string)(opened(subject, openings))

const money = (amount: AmountText): string => `€ ${amount.replace(/\B(?=(?:\d{3})+\.)/g, ',')}`

/** A stranger's text in one line: nothing in it can pass for a part of the sentence. */
export const quoted = (text: string): string =>
  `“${text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replace(/[“”"]/g, '’')
    .trim()}”`

function payeeInWords({ name, iban, walletId }: StatedPayee): string {
  if (iban) return `${quoted(name)} (IBAN ${iban})`
  return walletId ? `${quoted(name)} (wallet ${walletId})` : quoted(name)
}

function constraintsInWords(limits: StatedConstraints): string {
  const amounts = [
    [limits.perTransactionEuros, 'a payment'],
    [limits.perDayEuros, 'a day'],
    [limits.perMonthEuros, 'a month'],
    [limits.totalEuros, 'in all'],
  ] as const
  const lists = [
    [limits.merchants, 'merchants'],
    [limits.mccs, 'merchant categories'],
    [limits.countries, 'countries'],
  ] as const
  return [
    ...amounts.flatMap(([amount, per]) => (amount === null ? [] : [`at most ${money(amount)} ${per}`])),
    ...(limits.count === null ? [] : [`at most ${limits.count} payments`]),
    ...lists.flatMap(([list, name]) =>
      list === null ? [] : [`only these ${name}: ${list.map(quoted).join(', ')}`],
    ),
  ].join('; ')
}

const assistantInWords = ({ name, host, redirectsTo, tools }: StatedAssistant): string =>
  `Let the assistant ${quoted(name)}, ${host === null ? 'which nothing verifies' : `published by ${host}`}, with answers to ${redirectsTo} and the tools ${tools.join(', ')},`

const inWords = (scopes: readonly string[] | null): string =>
  scopes ? `these scopes: ${scopes.join(', ')}` : 'every scope'

const byTools = ({ toolWrites }: { readonly toolWrites?: true }): string =>
  toolWrites ? ', and let assistants change things with it' : ''

function providerInWords({ issuer, clientId, groupsClaim, ...groups }: StatedProvider): string {
  const roles = [
    ['owner', groups.ownerGroups],
    ['approver', groups.approverGroups],
    ['viewer', groups.viewerGroups],
  ] as const
  const named = roles.flatMap(([role, names]) =>
    names.length === 0 ? [] : [`${role} for ${names.map(quoted).join(', ')}`],
  )
  const byGroups =
    named.length === 0 ? '' : `, with roles by the groups in ${quoted(groupsClaim)}: ${named.join('; ')}`
  const client = clientId === null ? '' : `, where this service is ${quoted(clientId)}`
  return `Let invited people sign in with the identity provider ${quoted(issuer)}${client}${byGroups}.`
}

/** Records that change in the same way are named together. */
function wideningInWords(changes: readonly StatedWidening[]): string {
  const byRecord = Map.groupBy(changes, ({ of, id }) => `${of} ${id}`)
  const records = [...byRecord.values()].map(([first, ...others]) => ({
    record: first && `${first.name === null ? '' : `${quoted(first.name)} `}(${first.id})`,
    of: first?.of,
    fields: [first, ...others].map(one => `${one?.field} from ${one?.from} to ${one?.to}`).join('; '),
  }))
  const alike = Map.groupBy(records, ({ of, fields }) => `${of}: ${fields}`)
  return [...alike.values()]
    .map(same => {
      const [{ of, fields } = { of: '', fields: '' }] = same
      const names = same.map(({ record }) => record)
      return `${of}${names.length > 1 ? 's' : ''} ${names.join(', ')}: ${fields}`
    })
    .join('. For the ')
}

const sentences: { readonly [K in Kind]: (subject: Subjects[K]) => string } = {
  intent({ amountEuros, largestEuros, payee, agentName, purpose, intentId }) {
    const most = largestEuros === amountEuros ? '' : `, at most ${money(largestEuros)},`
    return `Pay ${money(amountEuros)}${most} to ${payeeInWords(payee)} for the agent ${quoted(agentName)}: ${quoted(purpose)} (${intentId}).`
  },
  payment({ totalEuros, payees, fromWalletId }) {
    const parts = payees.map(payee => `${money(payee.amountEuros)} to ${payeeInWords(payee)}`)
    return `Pay ${money(totalEuros)} from the wallet ${fromWalletId}: ${parts.join('; ')}.`
  },
  mandate: ({ agentId, constraints, expiresAt, assistant }) =>
    `${assistant ? `${assistantInWords(assistant)} use the agent ${agentId} and` : `Let the agent ${agentId}`} pay without asking until ${formatMinute(new Date(expiresAt))}: ${constraintsInWords(constraints)}.`,
  revocation: ({ passkeyId, name }) => `Revoke the passkey ${quoted(name)} (${passkeyId}).`,
  enrolment: ({ personId, name }) => `Enrol a new passkey for ${quoted(name)} (${personId}).`,
  invitation(subject) {
    if ('issuer' in subject) return providerInWords(subject)
    if (!('personId' in subject))
      return `Invite ${quoted(subject.name)}${subject.email ? `, ${quoted(subject.email)},` : ''} as ${subject.role}.`
    if ('role' in subject) return `Make ${quoted(subject.name)} (${subject.personId}) ${subject.role}.`
    const email = subject.email === undefined ? '' : `, ${quoted(subject.email)}`
    return `Make a new sign-in link for the person ${subject.personId}${email}.`
  },
  key(subject) {
    if ('keyId' in subject)
      return `Replace the API key ${quoted(subject.name)} (${subject.keyId}) by a new one that may do the same.`
    return `Make the ${subject.environment} API key ${quoted(subject.name)} with ${inWords(subject.scopes)}${byTools(subject)}.`
  },
  deletion: ({ subjectType, subjectId }) =>
    subjectType === 'owner'
      ? `Forget all that is held about the owner of the account ${subjectId}, and end the account.`
      : `Forget all that is held about the ${subjectType} ${subjectId}.`,
  device: ({ deviceId, deviceName, clientType, scopes, userCode, ...more }) =>
    `Let the device ${quoted(deviceName)} (${clientType}, ${quoted(deviceId)}), which shows the code ${userCode}, act for this account with ${inWords(scopes)}${byTools(more)}.`,
  pairing: ({ deviceName, pairingCode, scopes, ...more }) =>
    `Give the command line on ${quoted(deviceName)}, which shows the code ${pairingCode}, an API key with ${inWords(scopes)}${byTools(more)}.`,
  widening({ changes }) {
    const areOf = (...records: StatedWidening['of'][]) => changes.every(({ of }) => records.includes(of))
    const lets = (): string => {
      if (areOf('person')) return 'Let another person approve'
      if (areOf('identity provider')) return 'Change who may sign in, with which role'
      if (areOf('payment request')) return 'Pay money back'
      return areOf('beneficiary', 'transfer') ? 'Change who is paid' : 'Let more be spent'
    }
    return `${lets()}. For the ${wideningInWords(changes)}.`
  },
  registration: ({ personId }) => `Make a passkey on this device for the person ${personId}.`,
  sign_in: () => 'Sign in.',
}
