import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { runCommand } from '../../support/command.ts'
import { endOverdueOf } from '../../support/compliance/deadlines.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET } from '../../support/harness.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { withConnection } from '../../support/rows.ts'
import { type AnOwner, aDeletedPayee, advance, ask, MARK, read, textsOf } from './asking.ts'
import { service } from './service.ts'

/** A forgotten payee, and the operator's list of the deletion. */
async function aForgottenPayee() {
  const owner = await service.owner()
  const subject = await aDeletedPayee(owner)
  const { id } = await bodyOf(ask(owner, subject))
  await sealTrail(service)
  await advance(owner, { days: 8 })
  expect(await read(owner, id)).toMatchObject({ status: 'completed' })
  const env = { AGENTPAY_URL: service.url, AGENTPAY_DASHBOARD_SECRET: DASHBOARD_SECRET }
  const listed = join(temporaryFolder(), 'erasures.json')
  await runCommand(['gdpr', 'list-erasures', '--all', '--json', '-o', listed], { env })
  const all: { id: string; ownerId: string; completedAt: string }[] = JSON.parse(
    readFileSync(listed, 'utf8'),
  ).data
  const kept = all.filter(({ ownerId }) => ownerId === owner.ownerId)
  expect(kept.map(one => one.id)).toEqual([id])
  const file = join(temporaryFolder(), 'erasures.json')
  writeFileSync(file, JSON.stringify({ data: kept }))
  return { owner, subject, id, file, completedAt: kept[0]?.completedAt }
}

/** The database as a backup from before the request has it. */
const restore = ({ ownerId }: AnOwner, payee: string) =>
  withConnection(service.databaseUrl, async client => {
    await client.query('set session_replication_role = replica')
    await client.query('delete from gdpr_deletions where owner_id = $1', [ownerId])
    await client.query('update beneficiaries set name = $2, email = $3 where id = $1', [
      payee,
      MARK,
      'mark@example.com',
    ])
  })

const reapply = async (file: string) => {
  const { code, out, err } = await runCommand(['gdpr', 'reapply', file, '--json'], {
    env: { DATABASE_URL: service.databaseUrl },
  })
  return { code, err, outcomes: out === '' ? [] : JSON.parse(out).data }
}

describe('after a backup was restored', () => {
  test('who was forgotten is forgotten again without delay, and the law’s years run from the first time', async () => {
    const { owner, subject, id, file, completedAt } = await aForgottenPayee()
    expect(await reapply(file)).toMatchObject({ code: 0, outcomes: [{ id, outcome: 'completed' }] })
    await restore(owner, subject.id)
    expect(await textsOf(owner, 'beneficiaries')).toContain(MARK)
    expect(await reapply(file)).toMatchObject({ code: 0, outcomes: [{ id, outcome: 'again' }] })
    expect(await reapply(file)).toMatchObject({ code: 0, outcomes: [{ id, outcome: 'open' }] })
    await sealTrail(service)
    await endOverdueOf(service)
    await endOverdueOf(service)
    expect(await read(owner, id)).toMatchObject({ status: 'completed', subject })
    expect(await textsOf(owner, 'beneficiaries')).not.toMatch(/Mark Erased|mark@example/)
    const erasures = await bodyOf(service.dash.gdpr.listErasures({ query: { limit: 100 } }))
    expect(erasures.data.find(one => one.id === id)?.completedAt).toBe(completedAt)
    expect(await reapply(file)).toMatchObject({ code: 0, outcomes: [{ id, outcome: 'completed' }] })
  })

  test('reports accounts that the backup does not contain, and refuses an invalid list', async () => {
    const { file, owner } = await aForgottenPayee()
    const nobody = join(temporaryFolder(), 'nobody.json')
    const [mine] = JSON.parse(String((await import('node:fs')).readFileSync(file))).data
    writeFileSync(nobody, JSON.stringify({ ...mine, ownerId: `${owner.ownerId}x` }))
    expect(await reapply(nobody)).toMatchObject({ code: 0, outcomes: [{ outcome: 'unknown' }] })
    writeFileSync(nobody, '{"id":"gdprdeletion_x"}')
    expect(await reapply(nobody)).toMatchObject({ code: 2, err: expect.stringContaining('record 1') })
    const unset = await runCommand(['gdpr', 'reapply', file])
    expect(unset).toMatchObject({ code: 2, err: expect.stringContaining('DATABASE_URL') })
  })

  test('does not let the role of the service delete data earlier', async () => {
    const { ownerId } = await service.owner()
    const answers = await withConnection(service.databaseUrl, async client => {
      await client.query('set role agentpay_application')
      await client.query("select set_config('agentpay.reapplying', 'on', false)")
      const told: string[] = []
      for (const text of [
        `select reapply_deletion($1, 'live', 'd', 'owner', $1, now() - interval '9 days', now() - interval '1 day')`,
        `insert into gdpr_deletions (owner_id, mode, id, created_at, updated_at, status, subject_type, subject_id, answer_by,
           begins_at, due_at, workflow_id)
         values ($1, 'live', 'd', now(), now(), 'requested', 'owner', $1, now(), now() - interval '1 day', now(), 'w')`,
        `insert into gdpr_deletions (owner_id, mode, id, created_at, updated_at, status, subject_type, subject_id, answer_by,
           begins_at, first_completed_at, due_at, workflow_id)
         values ($1, 'live', 'd', now(), now(), 'requested', 'owner', $1, now(), now() + interval '8 days', now(), now(), 'w')`,
      ])
        told.push(
          await client.query(text, [ownerId]).then(
            () => 'done',
            ({ message }: Error) => message,
          ),
        )
      return told
    })
    expect(answers).toEqual([
      'permission denied for function reapply_deletion',
      expect.stringContaining('would begin too early'),
      expect.stringContaining('would begin too early'),
    ])
  })
})
