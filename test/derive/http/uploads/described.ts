import { describe, expect, test } from '@jest/globals'
import { renderDocs } from '../../../../src/derive/docs/docs.ts'
import { openapiDocument } from '../../../../src/derive/openapi/document.ts'
import type { OperationObject } from '../../../../src/derive/openapi/types.ts'
import { detectFileKind, fileKindFromName, sanitizeFileName } from '../../../../src/values/file-kind.ts'
import { papersArea } from '../../../support/uploading-noun.ts'

const document = openapiDocument({ papers: papersArea })
const operationOf = (path: string) => document.paths[path]?.post as OperationObject
const bodyOf = (path: string) => operationOf(path).requestBody as NonNullable<OperationObject['requestBody']>

describe('the document', () => {
  test('shows a body with a file in both of its forms', () => {
    const { content, description } = bodyOf('/papers')
    expect(description).toBe('As a form at most 10.1 MiB, as JSON 13.5 MiB.')
    expect(content['multipart/form-data']?.schema).toMatchObject({
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 40 },
        paper: { type: 'string', format: 'binary' },
      },
      required: ['title', 'paper'],
    })
    expect(document.components.schemas.NewPaper?.properties?.paper).toMatchObject({
      type: 'string',
      contentEncoding: 'base64',
    })
    expect(content['application/json']?.example).toEqual({ title: 'A bill', paper: 'JVBERi0xLjQK' })
  })

  test('shows a form and JSON', () => {
    expect(Object.keys(bodyOf('/papers/grant').content)).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
    ])
  })

  test('lists the refusals of a body with files in its own words', () => {
    const { responses } = operationOf('/papers')
    expect(JSON.stringify(responses[415])).toContain('multipart/form-data')
    expect(
      Object.values(document.components.responses)
        .map(({ description }) => description)
        .join(),
    ).not.toContain('each file in Base64')
  })
})

test('the pages show how a file and a form are sent', () => {
  const page = [...renderDocs(document).files]
    .filter(([address]) => address.startsWith('/docs/api/papers.'))
    .map(([, { content }]) => String(content))
    .join()
  expect(page).toContain('paper=@document.pdf')
  expect(page).toContain('--data-urlencode')
  expect(page).toContain('As multipart/form-data, or as JSON with files in Base64.')
})

describe('the kind of a file', () => {
  test.each([
    ['255044462d312e34', 'application/pdf'],
    ['ffd8ffe000104a46', 'image/jpeg'],
    ['89504e470d0a1a0a', 'image/png'],
    ['89504e470d0a1a', undefined],
    ['47494638', undefined],
    ['', undefined],
  ])('with the bytes %s is %s', (bytes, kind) => {
    expect(detectFileKind(Buffer.from(bytes, 'hex'))).toBe(kind)
  })

  test('is promised by the ending of its name', () => {
    expect(['a.PDF', 'a.jpeg', 'a.jpg', 'a.b.png', 'a', 'pdf.exe'].map(fileKindFromName)).toEqual([
      'application/pdf',
      'image/jpeg',
      'image/jpeg',
      'image/png',
      undefined,
      undefined,
    ])
  })

  test('keeps a file name without dangerous characters', () => {
    expect(sanitizeFileName('/etc/passwd')).toBe('passwd')
    expect(sanitizeFileName('a\r\nSet-Cookie: b.pdf')).toBe('aSet-Cookie: b.pdf')
    expect(sanitizeFileName('\u202egnp.exe')).toBe('gnp.exe')
    expect(sanitizeFileName(`${'x'.repeat(500)}.pdf`)).toBe(`${'x'.repeat(116)}.pdf`)
    expect(['', '.', '..', '../', 'a/'].map(sanitizeFileName)).toEqual([null, null, null, null, null])
  })
})
