import { bodyOf, type TestClient } from '../factories.ts'

export const GERMAN = 'DE89370400440532013000'
export const DUTCH = 'NL91ABNA0417164300'
export const FRENCH = 'FR1420041010050500013M02606'

export const beneficiaryIds = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.beneficiaries.list({ query }))).data.map(({ id }) => id)

export const readBeneficiary = (client: TestClient, id: string) =>
  bodyOf(client.beneficiaries.get({ params: { id } }))
export const updateBeneficiary = (client: TestClient, id: string, body: object) =>
  client.beneficiaries.update({ params: { id }, body })
export const deleteBeneficiary = (client: TestClient, id: string) =>
  client.beneficiaries.delete({ params: { id } })
export const verifyBeneficiary = (client: TestClient, id: string) =>
  client.beneficiaries.verify({ params: { id } })
