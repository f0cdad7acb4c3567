import type { AmountText, Kind, StatedConstraints, StatedPayee, Subjects } from './subjects.ts'

/** `€ 1,234.50` */
const money = (amount: AmountText): string => `€ ${amount.replace(/\B(?=(?:\d{3})+\.)/g, ',')}`

/** A text of somebody else in one line: nothing in it can pass for a part of the sentence. */
const quoted = (text: string): string =>
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

const inWords = (scopes: readonly string[] | null): string =>
  scopes ? `these scopes: ${scopes.join(', ')}` : 'every scope'

const byTools = ({ toolWrites }: { readonly toolWrites?: true }): string =>
  toolWrites ? ', and let assistants change things with it' : ''

/** The sentence that a person reads before signing, for each kind. */
export const sentences: { readonly [K in Kind]: (subject: Subjects[K]) => string } = {
  intent({ amountEuros, largestEuros, payee, intentId }) {
    const most = largestEuros === amountEuros ? '' : `, at most ${money(largestEuros)},`
    return `Pay ${money(amountEuros)}${most} to ${payeeInWords(payee)} for the intent ${intentId}.`
  },
  payment({ totalEuros, payees, fromWalletId }) {
    const parts = payees.map(payee => `${money(payee.amountEuros)} to ${payeeInWords(payee)}`)
    return `Pay ${money(totalEuros)} from the wallet ${fromWalletId}: ${parts.join('; ')}.`
  },
  mandate: ({ agentId, constraints, expiresAt }) =>
    `Let the agent ${agentId} pay without asking until ${expiresAt}: ${constraintsInWords(constraints)}.`,
  revocation: ({ passkeyId, name }) => `Revoke the passkey ${quoted(name)} (${passkeyId}).`,
  enrolment: ({ personId, name }) => `Enrol a new passkey for ${quoted(name)} (${personId}).`,
  invitation(subject) {
    if (!('personId' in subject))
      return `Invite ${quoted(subject.name)}${subject.email ? `, ${quoted(subject.email)},` : ''} as ${subject.role}.`
    return 'role' in subject
      ? `Make ${quoted(subject.name)} (${subject.personId}) ${subject.role}.`
      : `Make a new sign-in link for the person ${subject.personId}.`
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
  registration: ({ personId }) => `Make a passkey on this device for the person ${personId}.`,
  sign_in: () => 'Sign in.',
}
