import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { assertion, type Enrolled } from '../identity/people.ts'

interface Stage {
  readonly client: TestClient
  readonly signer: () => Promise<Enrolled>
  readonly sql: TestService['sql']
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

async function ready({ client, shows }: Stage): Promise<string> {
  const { workflowId } = await bodyOf(client.gdpr.createExport({ body: {} }))
  await shows(workflowId, 'for the archive to expire')
  return workflowId
}

/** A payee inserted directly: no entry of the trail is about it, so none has to be sealed. */
const PAYEE = `
insert into beneficiaries (id, owner_id, mode, created_at, updated_at, name, sepa_name, iban, country)
select 'beneficiary_' || substr(md5(random()::text), 1, 26), owner_id, 'test', now(), now(), 'Ada Lovelace', 'Ada Lovelace',
  'DE89' || lpad((random() * 1e9)::bigint::text, 18, '0'), 'DE' from people where id = $1 returning id`

/** A deletion of a payee that can still be paid. */
async function asked({ client, signer, sql }: Stage) {
  const somebody = await signer()
  const [payee] = await sql<{ id: string }>(PAYEE, [somebody.personId])
  const subject = { type: 'beneficiary', id: String(payee?.id) } as const
  const webauthnAssertion = await assertion(client, somebody, { purpose: 'deletion', subject })
  const made = await bodyOf(client.gdpr.createDeletion({ body: { subject, webauthnAssertion } }))
  return { ...made, payeeId: subject.id }
}

export const gdprStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'gdpr-export-waits': ready,

  'gdpr-export-expired': async stage => {
    const workflowId = await ready(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 8 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'gdpr-deletion-cancelled': async stage => {
    const { id, workflowId } = await asked(stage)
    await stage.shows(workflowId, 'in which it can be cancelled')
    await stage.client.gdpr.cancelDeletion({ params: { id } })
    await stage.ends(workflowId)
    return workflowId
  },

  'gdpr-deletion-completed': async stage => {
    const { workflowId, payeeId } = await asked(stage)
    await stage.shows(workflowId, 'in which it can be cancelled')
    await bodyOf(stage.client.sandbox.advance({ body: { days: 8 } }))
    await stage.shows(workflowId, payeeId)
    await stage.sql('update beneficiaries set deleted_at = now() where id = $1', [payeeId])
    await bodyOf(stage.client.sandbox.advance({ body: { days: 1 } }))
    await stage.ends(workflowId)
    return workflowId
  },
}
