// A lone member of a group, and transactions, through kafkajs. Arguments: bootstrap, topic, group, transactional id.
// The topic has ten records a second apart in its one partition. Prints what it saw as JSON.
'use strict'

const { Kafka, logLevel } = require('kafkajs')

const [bootstrap, topic, group, transactionalId] = process.argv.slice(2)
const kafka = new Kafka({
  brokers: bootstrap.split(','),
  clientId: 'scenario',
  logLevel: logLevel.NOTHING,
  retry: { initialRetryTime: 50, maxRetryTime: 200, retries: 30 }
})

function makeConsumer (groupId) {
  return kafka.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 300, maxWaitTimeInMs: 50 })
}

// Resolves with the next so many offsets; what comes after them is left to others.
function next (state, count) {
  return new Promise((resolve, reject) => {
    state.wanted = { count, found: [], resolve }
    state.timer = setTimeout(() => reject(new Error(`only ${state.wanted.found.length} of ${count} records`)), 20000)
  })
}

function onMessage (state, message) {
  const wanted = state.wanted
  if (wanted === null) return
  wanted.found.push(message.value.toString())
  if (wanted.found.length === wanted.count) {
    clearTimeout(state.timer)
    state.wanted = null
    wanted.resolve(wanted.found)
  }
}

async function run (consumer, state, fromBeginning) {
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning })
  await consumer.run({ autoCommit: false, eachMessage: async ({ message }) => onMessage(state, message) })
}

async function positions (seen) {
  const state = { wanted: null }
  const consumer = makeConsumer(group)
  const first = next(state, 10)
  await run(consumer, state, true)
  seen.first = await first
  await consumer.commitOffsets([{ topic, partition: 0, offset: '4' }])

  let replay = next(state, 4)
  consumer.seek({ topic, partition: 0, offset: '6' })
  seen.fromOffset = await replay

  const admin = kafka.admin()
  await admin.connect()
  const [at] = await admin.fetchTopicOffsetsByTimestamp(topic, 1600000006500)
  replay = next(state, 3)
  consumer.seek({ topic, partition: 0, offset: at.offset })
  seen.fromTimestamp = await replay

  consumer.pause([{ topic }])
  seen.paused = consumer.paused()
  const late = next(state, 1)
  consumer.seek({ topic, partition: 0, offset: '9' })
  await new Promise(resolve => setTimeout(resolve, 400))
  seen.whilePaused = state.wanted.found.length
  consumer.resume([{ topic }])
  seen.resumed = await late
  await consumer.disconnect()

  seen.committed = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  const again = makeConsumer(group)
  const rest = next(state, 6)
  await run(again, state, true)
  seen.resumedFromCommit = await rest
  await again.disconnect()
  await admin.disconnect()
}

async function transactions (seen) {
  const producer = kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1, transactionTimeout: 10000 })
  await producer.connect()
  const endings = ['commit', 'abort', 'commit']
  for (const [number, ending] of endings.entries()) {
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [{ value: `${ending} ${number}`, partition: 0 }] })
    await transaction.sendOffsets({ consumerGroupId: group, topics: [{ topic, partitions: [{ partition: 0, offset: String(7 + number) }] }] })
    await transaction[ending]()
  }

  const zombie = await producer.transaction()
  await zombie.send({ topic, messages: [{ value: 'zombie', partition: 0 }] })
  const successor = kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1, transactionTimeout: 10000 })
  await successor.connect()
  const last = await successor.transaction()
  await last.send({ topic, messages: [{ value: 'commit last', partition: 0 }] })
  seen.zombie = await zombie.commit().then(() => 'committed', error => error.type || String(error))
  await last.commit()
  await producer.disconnect()
  await successor.disconnect()
}

async function main () {
  const seen = {}
  await positions(seen)
  await transactions(seen)
  console.log(JSON.stringify(seen))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
