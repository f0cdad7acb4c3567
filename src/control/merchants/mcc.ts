import { serviceMccs } from './mcc-services.ts'
import { shopMccs } from './mcc-shops.ts'
import { tradeMccs } from './mcc-trades.ts'

interface Category {
  readonly code: string
  readonly description: string
}

/** ISO leaves these codes to the card schemes, which assign them to single companies. */
const companyCategories = [
  { from: 3000, to: 3350, description: 'An airline with a code of its own' },
  { from: 3351, to: 3500, description: 'A car hire company with a code of its own' },
  { from: 3501, to: 3999, description: 'A hotel chain with a code of its own' },
].flatMap(({ from, to, description }) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ code: String(from + index), description })),
)

const sharedCategories = [tradeMccs, shopMccs, serviceMccs].flatMap(text =>
  text
    .trim()
    .split('\n')
    .map(line => ({ code: line.slice(0, 4), description: line.slice(5) })),
)

export const merchantCategories: readonly Category[] = [...sharedCategories, ...companyCategories].sort(
  (a, b) => (a.code < b.code ? -1 : 1),
)

export const mccCodes: readonly string[] = merchantCategories.map(({ code }) => code)

const byCode = new Map(merchantCategories.map(category => [category.code, category]))

export const mccDescription = (code: string): string | null => byCode.get(code)?.description ?? null

const groups = {
  advertising: '7311 7333',
  automotive: '5013 5511-5533 5551-5599 7531-7549',
  cash: '4829 6010-6051 6211 6532-6540',
  charity: '8398-8699',
  clothing: '5137 5139 5611-5699 5944 5948 7296',
  'dating-and-adult': '5967 7273 7297',
  dining: '5811-5814',
  education: '8211-8299',
  electronics: '4812 5044-5045 5065 5732 5946 7379 7622',
  entertainment: '5733 5735 5815-5816 7829-7994 7996-7999',
  fuel: '5172 5541-5542 5552 5983',
  gambling: '7800-7802 7995 9406',
  government: '9211-9311 9399-9405',
  groceries: '5300 5411-5499 5921',
  health: '4119 5047 5122 5912 5975-5976 8011-8099',
  home: '0780 1520-1799 5039 5200-5261 5712-5722 7217 7349',
  insurance: '5960 6300-6399',
  office: '5021 5044 5111 5943 5978 7338-7339',
  professional: '7276 7361 7392 7399 8111 8734-8999',
  publishing: '2741-2791 5192 5815 5942 5994',
  retail: '5262 5309-5399 5931-5966 5968-5999',
  shipping: '4011 4214-4225 9402',
  software: '4816 5734 5817-5818 7372-7379',
  telecom: '4812-4816 4821 4899',
  travel: '3000-3999 4111-4112 4121-4131 4411 4511-4789 5962 7011-7033 7512-7523',
  utilities: '4900',
} as const

function codesIn(members: string): readonly string[] {
  const ranges = members.split(' ').map(member => member.split('-'))
  const isIn = (code: string): boolean => ranges.some(([from = '', to = from]) => from <= code && code <= to)
  return mccCodes.filter(isIn)
}

/** What `mccCategories` can name. */
export const mccGroupNames = Object.keys(groups) as (keyof typeof groups)[]

const byName: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(groups).map(([name, members]) => [name, codesIn(members)]),
)

export const mccsOfGroup = (name: string): readonly string[] | undefined => byName.get(name)

export const groupsOfMcc = (mcc: string): string[] =>
  mccGroupNames.filter(name => byName.get(name)?.includes(mcc))
