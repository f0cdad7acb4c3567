import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { endOverdueOf } from './deadlines.ts'
import { sealTrail } from './trail.ts'

type Serving = Pick<TestService, 'dash' | 'sql' | 'databaseUrl'>

type EndDue = (service: Serving) => Promise<unknown>

/** Takes the due steps of a deletion, as at their time. With cards, `endDue` belongs to a worker. */
export async function goOnWith(service: Serving, id: string, endDue: EndDue = endOverdueOf): Promise<void> {
  await service.sql('update gdpr_deletions set due_at = created_at where id = $1 and due_at is not null', [
    id,
  ])
  await endDue(service)
}

/** Requests an owner's erasure, lets seven days pass, and carries it out. */
export async function forget(
  service: Serving,
  { client, ownerId }: { readonly client: TestClient; readonly ownerId: string },
  endDue?: EndDue,
): Promise<string> {
  const { id } = await bodyOf(client.gdpr.createDeletion({ body: {} }))
  const later = `insert into tenant_clocks values ($1, 'test', $2)
    on conflict (owner_id, mode) do update set offset_ms = tenant_clocks.offset_ms + excluded.offset_ms`
  await service.sql(later, [ownerId, 7 * 86_400_000])
  const steps = 10
  for (let step = 0; step < steps; step++) {
    await sealTrail(service)
    await goOnWith(service, id, endDue)
    const { status } = await bodyOf(service.dash.gdpr.getDeletion({ params: { id } }))
    if (status === 'completed') return id
  }
  throw new Error(`the deletion ${id} is not completed after ${steps} steps`)
}
