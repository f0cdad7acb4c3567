export { showTimes, timeOf } from './page.js'
