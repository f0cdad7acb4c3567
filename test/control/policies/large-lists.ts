import { describe, expect, test } from '@jest/globals'
import type { areas } from '../../../src/areas.ts'
import { policyChangesBetween } from '../../../src/control/policies/versions.ts'
import { MAX_PAGE_BYTES } from '../../../src/kernel/contract/page.ts'
import { newId } from '../../../src/values/ids.ts'
import { aPolicy, bodyOf } from '../../support/factories.ts'
import { type HttpResponse, type Owner, startTestService } from '../../support/harness.ts'

const service = await startTestService()

const names = (count: number, prefix = 'Merchant') =>
  Array.from({ length: count }, (_, n) => `${prefix} number ${n}`)

async function pagesOf(path: string, token: string): Promise<HttpResponse[]> {
  const pages: HttpResponse[] = []
  for (let cursor = ''; ; ) {
    const page = await service.http('GET', `${path}?limit=100${cursor && `&cursor=${cursor}`}`, { token })
    expect(page.status).toBe(200)
    expect(page.body.hasMore).toBe(page.body.nextCursor !== null)
    pages.push(page)
    if (!page.body.nextCursor) return pages
    cursor = page.body.nextCursor
  }
}

/** A policy from before lists were limited, whose versions have lists of this length. */
async function anOldPolicy({ client }: Pick<Owner<typeof areas>, 'client'>, entries: number, latest: number) {
  const { id } = await aPolicy(client)
  const merchantsSql = (prefix: string) =>
    `(select array_agg('Merchant ' || ${prefix} || n) from generate_series(1, ${entries}) n)`
  await service.sql(`update policies set merchant_allowlist = ${merchantsSql(`''`)} where id = $1`, [id])
  for (let version = 2; version <= latest; version++)
    await service.sql(
      `insert into policy_versions
       select (jsonb_populate_record(v, jsonb_build_object('id', $2::text, 'version', $3::int, 'rules',
         jsonb_set(v.rules::jsonb, '{merchantAllowlist}', to_jsonb(${merchantsSql(`${version} || '.'`)}))))).*
       from policy_versions v where policy_id = $1 and version = 1`,
      [id, newId('policyversion'), version],
    )
  return id
}

describe('a page of large records', () => {
  test('contains as many records as fit, and the next page continues from there', async () => {
    const { client, key } = await service.owner()
    const merchantAllowlist = names(1_000, 'x'.repeat(200))
    const ids: string[] = []
    for (let n = 0; n < 9; n++) ids.unshift((await aPolicy(client, { merchantAllowlist })).id)
    const pages = await pagesOf('/policies', key)
    expect(pages.flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id))).toEqual(ids)
    expect(pages.length).toBeGreaterThan(1)
    for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(MAX_PAGE_BYTES + 1_000)
  })

  test('has at least one record, however large, and old policies are read as they are', async () => {
    const owner = await service.owner()
    const id = await anOldPolicy(owner, 62_000, 3)
    const read = await bodyOf(owner.client.policies.get({ params: { id } }))
    expect(read.merchantAllowlist).toHaveLength(62_000)
    const pages = await pagesOf(`/policies/${id}/versions`, owner.key)
    expect(pages.map(({ body }) => body.data.map(({ version }: { version: number }) => version))).toEqual([
      [3],
      [2],
      [1],
    ])
    expect(pages[0]?.body.data[0].changes.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringMatching(
        /^Allowed merchants: added Merchant 3\.1, .* and 61990 more; removed Merchant 2\.1, /,
      ),
    ])
  })
})

test('the change between two long lists is said in few words, in time proportional to their length', () => {
  const [before, after] = [names(62_000), names(62_000, 'Shop')]
  const cpuBefore = process.threadCpuUsage()
  const [change] = policyChangesBetween({ merchantAllowlist: before }, { merchantAllowlist: after })
  const { user, system } = process.threadCpuUsage(cpuBefore)
  expect(change?.text.length).toBeLessThan(1_000)
  // Comparing every entry with every other would take many seconds.
  expect((user + system) / 1_000).toBeLessThan(1_000)
})
