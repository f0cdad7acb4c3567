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

interface MccGroup {
  readonly name: string
  readonly description: string
  readonly codes: readonly string[]
}

function group(name: string, description: string, members: string): MccGroup {
  const ranges = members.split(' ').map(member => member.split('-'))
  const isIn = (code: string): boolean => ranges.some(([from = '', to = from]) => from <= code && code <= to)
  return { name, description, codes: merchantCategories.map(({ code }) => code).filter(isIn) }
}

export const mccGroups: readonly MccGroup[] = [
  group('advertising', 'Advertising and commercial art', '7311 7333'),
  group('automotive', 'Cars, their parts and their repair', '5013 5511-5533 5551-5599 7531-7549'),
  group('cash', 'Cash, transfers and what is as good as cash', '4829 6010-6051 6211 6532-6540'),
  group('charity', 'Charities, clubs and churches', '8398-8699'),
  group('clothing', 'Clothes, shoes and jewellery', '5137 5139 5611-5699 5944 5948 7296'),
  group('dating-and-adult', 'Dating, massage and adult content', '5967 7273 7297'),
  group('dining', 'Restaurants, cafés, bars and caterers', '5811-5814'),
  group('education', 'Schools, universities and courses', '8211-8299'),
  group('electronics', 'Computers, devices and their repair', '4812 5044-5045 5065 5732 5946 7379 7622'),
  group('entertainment', 'Films, music, games, sport and sights', '5733 5735 5815-5816 7829-7994 7996-7999'),
  group('fuel', 'Fuel and the charging of vehicles', '5172 5541-5542 5552 5983'),
  group('gambling', 'Betting, casinos and lotteries', '7800-7802 7995 9406'),
  group('government', 'Taxes, fines and offices', '9211-9311 9399-9405'),
  group('groceries', 'Food and household goods', '5300 5411-5499 5921'),
  group('health', 'Doctors, hospitals and medicines', '4119 5047 5122 5912 5975-5976 8011-8099'),
  group(
    'home',
    'Building, furniture, garden and household',
    '0780 1520-1799 5039 5200-5261 5712-5722 7217 7349',
  ),
  group('insurance', 'Insurance', '5960 6300-6399'),
  group('office', 'Office furniture and supplies', '5021 5044 5111 5943 5978 7338-7339'),
  group('professional', 'Lawyers, accountants, consultants, engineers', '7276 7361 7392 7399 8111 8734-8999'),
  group('publishing', 'Books, magazines, newspapers and papers', '2741-2791 5192 5815 5942 5994'),
  group('retail', 'Shops and marketplaces of every kind', '5262 5309-5399 5931-5966 5968-5999'),
  group('shipping', 'Parcels, freight and storage', '4011 4214-4225 9402'),
  group('software', 'Software, online services and hosting', '4816 5734 5817-5818 7372-7379'),
  group('telecom', 'Telephone, network and television', '4812-4816 4821 4899'),
  group(
    'travel',
    'Flights, trains, hotels, car hire and local transport',
    '3000-3999 4111-4112 4121-4131 4411 4511-4789 5962 7011-7033 7512-7523',
  ),
  group('utilities', 'Electricity, gas, water and waste', '4900'),
]

const byName = new Map(mccGroups.map(({ name, codes }) => [name, codes]))

export const mccGroupNames: readonly string[] = [...byName.keys()]

export const mccsOfGroup = (name: string): readonly string[] | undefined => byName.get(name)
