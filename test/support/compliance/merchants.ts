import { clientAt } from '../client.ts'
import { bodyOf } from '../factories.ts'
import { DASHBOARD_SECRET } from '../harness.ts'

export const APPLICATION = {
  name: 'Bookshop',
  legalName: 'Bookshop GmbH',
  country: 'DE',
  website: 'https://shop.example.com',
  mcc: '5942',
  contactName: 'Grace Hopper',
  contactEmail: 'grace@example.com',
}

/** An approved merchant with its API key. */
export async function aMerchant(url: string) {
  const { merchantApplications: applications } = clientAt({ url, dashboardSecret: DASHBOARD_SECRET })
  const { id } = await bodyOf(applications.create({ body: APPLICATION }))
  const { key } = await bodyOf(applications.approve({ params: { id } }))
  return { id, key: String(key) }
}

export const aMerchantKey = async (url: string): Promise<string> => (await aMerchant(url)).key
