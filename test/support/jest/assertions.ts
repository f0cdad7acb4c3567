import { beforeEach, expect } from '@jest/globals'

/** A test that has expected nothing fails: its loop went over an empty list, or it never asked. */
beforeEach(() => {
  expect.hasAssertions()
})
