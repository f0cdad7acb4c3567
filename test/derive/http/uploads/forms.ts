import { describe, expect, test } from '@jest/globals'
import { service } from './service.ts'

const grant = (body: string, type = 'application/x-www-form-urlencoded') =>
  service.http('POST', '/papers/grant', { body, headers: { 'content-type': type } })

describe('a form', () => {
  test('is read like JSON', async () => {
    const asForm = await grant('grant_type=urn%3Aietf%3Aparams&device_code=%C3%A4+1')
    const asJson = await grant('{"grant_type":"urn:ietf:params","device_code":"ä 1"}', 'application/json')
    expect(asForm.body).toEqual({ grant_type: 'urn:ietf:params', device_code: 'ä 1' })
    expect(asJson.body).toEqual(asForm.body)
  })

  test('may leave a member empty, which counts as left out', async () => {
    expect((await grant('grant_type=device&device_code=&')).body.device_code).toBeNull()
    expect((await grant('grant_type=')).body.error).toBe('grant_type: is required')
  })

  test.each([
    ['a name twice', 'grant_type=device&grant_type=device', 'grant_type: given more than once'],
    ['a name that the contract lacks', 'grant_type=device&other=1', 'other: unknown field'],
    [
      'a text that is too long',
      `grant_type=${'a'.repeat(61)}`,
      'grant_type: must have at most 60 characters (it has 61 characters)',
    ],
    ['half of an escape', 'grant_type=%E0%A4%A', 'body: is no valid form in UTF-8'],
    ['bytes that are no UTF-8', 'grant_type=%FF', 'body: is no valid form in UTF-8'],
    ['the character U+0000', 'grant_type=a%00b', 'grant_type: the character U+0000 cannot be used'],
    ['a name that objects have', '__proto__=1', '__proto__: this name cannot be used'],
    ['a hundred fields and one', Array(101).fill('a=1').join('&'), 'body: more than 100 fields'],
  ])('with %s is refused', async (_, body, error) => {
    const answer = await grant(body)
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  test('is taken only where the contract says so', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { token } = { token: (await service.owner()).key }
    const { status, body } = await service.http('POST', '/agents', { token, headers, body: 'name=a' })
    expect([status, body.error]).toEqual([415, 'Send the body as application/json, uncompressed, in UTF-8.'])
    expect((await grant('grant_type=a', 'text/plain')).body.error).toContain(
      'application/x-www-form-urlencoded or',
    )
  })
})
