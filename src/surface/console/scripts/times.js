// The instants of the page in the reader’s zone: the script that all pages of people share shows them.

export { showTimes, timeOf } from './page.js'
