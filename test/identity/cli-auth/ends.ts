import { describe, expect, test } from '@jest/globals'
import { atOnce, rowOf } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { isAccepted } from '../../support/keys.ts'
import { anApprovedTerminal, ask, service } from './service.ts'

const CHILD = { name: 'Child', environment: 'sandbox' } as const
const OVERLAP = { overlapMinutes: 60 }

const clientOf = ({ key }: { readonly key: string | null }) => service.client(String(key))

const childOf = (maker: { readonly key: string | null }) =>
  bodyOf(clientOf(maker).keys.create({ body: CHILD }))

async function aPairedTerminal() {
  const { owner, terminal } = await anApprovedTerminal()
  const own = await bodyOf(ask(terminal))
  const revoke = (id: string) => bodyOf(owner.client.keys.revoke({ params: { id } }))
  return { owner, own, revoke }
}

const accepted = (...keys: readonly { readonly key: string | null }[]) =>
  Promise.all(keys.map(key => isAccepted(clientOf(key))))

describe('the key of a terminal ends with the keys that it has created', () => {
  test.each(['by itself', 'by the owner'])('where it is revoked %s', async by => {
    const { owner, own, revoke } = await aPairedTerminal()
    const child = await childOf(own)
    const grandchild = await childOf(child)
    const others = await childOf({ key: owner.key })
    await (by === 'by itself' ? bodyOf(clientOf(own).keys.revokeCurrent()) : revoke(own.id))
    expect(await accepted(own, child, grandchild, others)).toEqual([false, false, false, true])
    const revoked = (await bodyOf(owner.client.events.list({ query: { event: 'key.revoked' } }))).data
    expect(revoked.map(({ data }) => data.keyId).sort()).toEqual([own.id, child.id, grandchild.id].sort())
  })

  test.each(['by itself', 'by another key'])('but not with its replacement, made %s', async by => {
    const { owner, own, revoke } = await aPairedTerminal()
    const child = await childOf(own)
    const { client } = by === 'by itself' ? { client: clientOf(own) } : owner
    const next = await bodyOf(client.keys.rotate({ params: { id: own.id }, body: OVERLAP }))
    const late = await childOf(own)
    await revoke(own.id)
    expect(await accepted(own, late, child, next)).toEqual([false, false, true, true])
    await revoke(next.id)
    expect(await accepted(child, next)).toEqual([false, false])
  })

  test('and its replacement ends with what the replaced key creates during the overlap', async () => {
    const { owner, own, revoke } = await aPairedTerminal()
    const next = await bodyOf(owner.client.keys.rotate({ params: { id: own.id }, body: OVERLAP }))
    const late = await childOf(own)
    const last = await bodyOf(owner.client.keys.rotate({ params: { id: next.id }, body: OVERLAP }))
    const later = [await childOf(own), await childOf(next)]
    await revoke(last.id)
    const all = [own, next, last, late, ...later]
    expect(await accepted(...all)).toEqual(all.map(() => false))
  })

  test('also with a key that is replaced at the same time as its own', async () => {
    const { owner, own, revoke } = await aPairedTerminal()
    const child = await childOf(own)
    const rotate = ({ keys }: typeof owner.client, { id }: { readonly id: string }) =>
      bodyOf(keys.rotate({ params: { id }, body: OVERLAP }))
    const [nextChild, next] = await atOnce(
      service,
      rowOf('keys', child.id),
      () => rotate(clientOf(child), child),
      () => rotate(owner.client, own),
    )
    await revoke(next.id)
    expect(await accepted(next, child, nextChild)).toEqual([false, false, false])
  })

  test.each(['by itself', 'by another key'])('also with their replacements, made %s', async by => {
    const { owner, own, revoke } = await aPairedTerminal()
    const child = await childOf(own)
    const grandchild = await childOf(child)
    const { client } = by === 'by itself' ? { client: clientOf(child) } : owner
    const next = await bodyOf(client.keys.rotate({ params: { id: child.id }, body: OVERLAP }))
    expect(next.madeById).toBe(own.id)
    await revoke(own.id)
    expect(await accepted(child, next, grandchild)).toEqual([false, false, false])
  })
})
