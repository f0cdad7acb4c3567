import { beforeEach, expect } from '@jest/globals'

/** Fails a test without assertions: its loop may have run over an empty list. */
beforeEach(() => {
  expect.hasAssertions()
})
