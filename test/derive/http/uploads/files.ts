import { hash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { aPdf, form, owner, pdfFile, send, service } from './service.ts'

describe('a file', () => {
  test('comes in a form, beside texts and other members', async () => {
    const { status, body } = await send(
      form({ title: 'A bill', pages: '3', authors: '["Ada"]', paper: pdfFile() }),
    )
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        title: 'A bill',
        name: 'bill.pdf',
        declaredType: 'application/pdf',
        kind: 'application/pdf',
        size: 2_000,
        sha256: hash('sha256', aPdf(2_000)),
      }),
    ])
    const content = await service.http('GET', `/papers/${body.id}`, { token: owner.key })
    expect(content.text).toBe(Buffer.from(aPdf(2_000)).toString())
  })

  test('comes in JSON, in Base64', async () => {
    const paper = Buffer.from(aPdf(2_000)).toString('base64')
    const { body } = await send(JSON.stringify({ title: 'A bill', paper }), {
      'content-type': 'application/json',
    })
    expect(body).toMatchObject({
      name: null,
      declaredType: null,
      size: 2_000,
      sha256: hash('sha256', aPdf(2_000)),
    })
  })
})
