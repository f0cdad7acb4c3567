import type { PaidArticle } from '../../commerce/collect/index.ts'
import { type BoundChallenge, encodeChallengeRequest, type PaymentReceipt } from '../../mpp/index.ts'
import { addMs, clock, days, minutes } from '../../values/clock.ts'

export type OfferOverrides = (article: PaidArticle) => Partial<BoundChallenge>

export type ScenarioAnswer =
  | 'good'
  | 'asks_more'
  | 'asks_again'
  | 'forbids'
  | 'fails'
  | 'cuts_off'
  | 'never_ends'
  | 'dawdles'

export interface MerchantScenario {
  readonly about: string
  readonly challenge?: OfferOverrides | 'nothing' | 'thousands' | 'other_methods' | 'elsewhere' | 'no_money'
  readonly charges: boolean
  readonly inDollars?: true
  readonly ending: ScenarioAnswer
  readonly receipt?: (receipt: PaymentReceipt) => PaymentReceipt | null
}

/** A key of 1024 bits, which is too weak. */
const WEAK =
  'sUPggLoYdfmOgVLsR_CYjfgTD41xIs6R5lbwUiTPSHnD6x0JOkPEMVOW4VOd3wffyvVENx_koKzN2OTIPlsOUscKH8V4adsBxlYzdHcY4ncCnmBea0S73naM8X9SLd-iL8wziLIA-eLHP5hRJVX4aGI6X8RYhd_6yTSbeH2Aum0'

const charge = ({ amountCents, description, externalId }: PaidArticle, more: object, details: object) =>
  encodeChallengeRequest({
    amount: String(amountCents),
    currency: 'eur',
    description,
    externalId,
    ...more,
    methodDetails: details,
  })

const detailsOf = ({ networks, merchantName, key }: PaidArticle) => ({
  acceptedNetworks: networks,
  merchantName,
  encryptionJwk: key.jwk,
})

/** Overrides members of the challenge, whose id binds them correctly. */
const withOverrides =
  (
    members: (article: PaidArticle) => { readonly more?: object; readonly details?: object },
  ): OfferOverrides =>
  article => {
    const { more = {}, details = {} } = members(article)
    return { request: charge(article, more, { ...detailsOf(article), ...details }) }
  }

const refused = { charges: false, ending: 'good' } as const
const charged = { charges: true, ending: 'good' } as const
const unpaid = { charges: false } as const

export const merchantScenarios = {
  paid: { ...charged, about: 'A good merchant: charges the card once, and answers with a receipt.' },
  free: { ...refused, challenge: 'no_money', about: 'Free: answers 200 at once.' },
  'no-challenge': { ...refused, challenge: 'nothing', about: 'Answers 402 without a challenge.' },
  'other-methods': {
    ...refused,
    challenge: 'other_methods',
    about: 'Offers Bearer, and a method that is not card.',
  },
  'many-challenges': { ...refused, challenge: 'thousands', about: 'Offers 10,000 challenges.' },
  redirect: { ...refused, challenge: 'elsewhere', about: 'Redirects to a private address.' },
  expired: {
    ...refused,
    challenge: ({ now }) => ({ expires: addMs(now, -minutes(1)).toISOString() }),
    about: 'Offers a challenge that has expired.',
  },
  'other-currency': {
    ...charged,
    inDollars: true,
    about: 'Asks for US dollars, at the reference rate. The network charges the price in euros.',
  },
  'weak-key': {
    ...refused,
    challenge: withOverrides(({ key }) => ({ details: { encryptionJwk: { ...key.jwk, n: WEAK } } })),
    about: 'Its key has 1024 bits.',
  },
  'two-keys': {
    ...refused,
    challenge: withOverrides(() => ({
      details: { jwksUri: 'https://keys.example.net/jwks.json', kid: 'key-1' },
    })),
    about: 'Gives both a key and the address of one.',
  },
  'foreign-keys': {
    ...refused,
    challenge: withOverrides(() => ({
      details: { encryptionJwk: undefined, jwksUri: 'https://keys.example.net/jwks.json', kid: 'key-1' },
    })),
    about: 'Its key is on another host.',
  },
  'other-digest': {
    ...refused,
    challenge: () => ({ digest: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:' }),
    about: 'Binds its challenge to another body.',
  },
  'other-name': {
    ...refused,
    challenge: withOverrides(() => ({ details: { merchantName: 'bookshop.example' } })),
    about: 'Calls itself bookshop.example, which is another site.',
  },
  'price-raised': {
    ...unpaid,
    ending: 'asks_more',
    about: 'Shown a credential, it asks for ten times as much.',
  },
  'asks-again': { ...unpaid, ending: 'asks_again', about: 'Shown a credential, it answers 402 again.' },
  forbidden: {
    ...unpaid,
    ending: 'forbids',
    about: 'Shown a credential, it answers 403 and charges nothing.',
  },
  failed: { ...unpaid, ending: 'fails', about: 'Shown a credential, it answers 500 and charges nothing.' },
  'charged-and-failed': {
    charges: true,
    ending: 'fails',
    about: 'Charges the card, and answers 500 with a receipt.',
  },
  'cut-off': {
    charges: true,
    ending: 'cuts_off',
    about: 'Charges the card, and closes the connection after the headers.',
  },
  endless: { charges: true, ending: 'never_ends', about: 'Charges the card, and answers with 64 MiB.' },
  slow: {
    charges: true,
    ending: 'dawdles',
    about: 'Charges the card, and takes two minutes for its answer.',
  },
  'no-receipt': { ...charged, receipt: () => null, about: 'Charges the card, and gives no receipt.' },
  'forged-receipt': {
    ...charged,
    receipt: receipt => ({ ...receipt, method: 'tempo', reference: 'forged' }),
    about: 'Charges the card, and gives a receipt of another method.',
  },
  'foreign-receipt': {
    ...charged,
    receipt: receipt => ({ ...receipt, challengeId: 'of-another-challenge' }),
    about: 'Charges the card, and gives the receipt of another payment.',
  },
  'old-receipt': {
    ...charged,
    receipt: receipt => ({ ...receipt, timestamp: addMs(clock.real(), -days(30)).toISOString() }),
    about: 'Charges the card, and gives a receipt of last month.',
  },
} as const satisfies Record<string, MerchantScenario>

export type MerchantScenarioName = keyof typeof merchantScenarios
export const merchantScenarioNames = Object.keys(merchantScenarios) as [
  MerchantScenarioName,
  ...MerchantScenarioName[],
]
export const findMerchantScenario = (name: string): MerchantScenario | undefined =>
  Object.hasOwn(merchantScenarios, name) ? merchantScenarios[name as MerchantScenarioName] : undefined
