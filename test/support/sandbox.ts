import { bodyOf, type TestClient } from './factories.ts'

export const DAY = 86_400

export const advance = (client: TestClient, by: { seconds?: number; minutes?: number; days?: number }) =>
  bodyOf(client.sandbox.advance({ body: by }))

export const offsetOf = async (client: TestClient): Promise<number> =>
  (await bodyOf(client.sandbox.clock())).offsetSeconds

export const statusOf = async ({ intents }: TestClient, id: string): Promise<string> =>
  (await bodyOf(intents.get({ params: { id } }))).status
