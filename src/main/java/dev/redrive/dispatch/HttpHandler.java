package dev.redrive.dispatch;

import dev.redrive.Arguments;
import dev.redrive.Lease;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Posts each job's payload, in UTF-8, to one receiver. Three headers say which job it is: {@code
 * Idempotency-Key} is {@code <queue>/<id>}, each part percent-encoded UTF-8, and the same for every
 * delivery of the job; {@code Redrive-Token} grows with every claim, so that a receiver can refuse
 * a late one; {@code Redrive-Attempt} counts from 1 in each life.
 *
 * <p>The answer decides:
 *
 * <ul>
 *   <li>2xx with a JSON object whose {@code accepted} is {@code true}: the work happened. Nothing
 *       else counts, not {@code 1}, {@code "true"}, a nested or a repeated key, or more text after
 *       the object: that is a {@link BadAckException}.
 *   <li>408, 425, 429, 5xx, or a status that is no final one: {@link Retryable}, {@code
 *       http-<status>}, after the wait that {@code Retry-After} asks for, up to a cap.
 *   <li>Any other status, redirects among them, none of which is followed: {@link Permanent},
 *       {@code http-<status>}.
 *   <li>No connection, no answer in time, or one that breaks off or breaks HTTP: {@link Retryable}
 *       with the exception's name, such as {@code ConnectException} or {@code
 *       HttpTimeoutException}.
 * </ul>
 *
 * <p>When a 2xx breaks off in the middle, the receiver has perhaps done the work. It is retried all
 * the same, and not taken for a bad ack, because nobody has read what was said: the receiver knows
 * the key and says it again. Whether an answer is whole is for HTTP to say (its length, its last
 * chunk), not for the JSON in it: half an object in a whole answer is a bad ack, and an answer
 * delimited by the end of the connection is always whole.
 *
 * <p>This is at-least-once delivery. It has one effect only at a receiver that stores the key and
 * the effect in one transaction, and answers {@code true} to a key it knows. One that replays a
 * stored refusal for a known key will refuse a redrive as well.
 */
public final class HttpHandler implements Handler {
  private static final Set<Integer> RETRYABLE = Set.of(408, 425, 429);

  private final HttpClient client;
  private final Acknowledgement acknowledgement;
  private final URI receiver;
  private final Map<String, String> headers;
  private final Duration timeout;
  private final Duration maxRetryAfter;
  private final int maxAnswerBytes;
  private final InstantSource clock;

  private HttpHandler(Builder settings) {
    this.client =
        HttpClient.newBuilder()
            // over clear text, HTTP/2 would start with an upgrade that some receivers refuse
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(settings.connectTimeout)
            .build();
    this.acknowledgement = acknowledgement();
    this.receiver = settings.receiver;
    this.headers = Map.copyOf(settings.headers);
    this.timeout = settings.timeout;
    this.maxRetryAfter = settings.maxRetryAfter;
    this.maxAnswerBytes = settings.maxAnswerBytes;
    this.clock = settings.clock;
  }

  private static Acknowledgement acknowledgement() {
    try {
      return new Acknowledgement();
    } catch (NoClassDefFoundError e) {
      throw new IllegalStateException(
          "HttpHandler needs com.fasterxml.jackson.core:jackson-databind on the class path;"
              + " add it, or write a Handler of your own",
          e);
    }
  }

  /**
   * A handler with default settings.
   *
   * @param receiver where to post to: http or https, with a host
   * @return the handler
   * @throws IllegalArgumentException if it is no such address
   * @throws IllegalStateException if Jackson is not on the class path
   */
  public static HttpHandler to(URI receiver) {
    return builder(receiver).build();
  }

  /**
   * Starts a handler with settings of its own.
   *
   * @param receiver where to post to: http or https, with a host, without user or fragment
   * @return the builder
   * @throws IllegalArgumentException if it is no such address
   */
  public static Builder builder(URI receiver) {
    return new Builder(receiver);
  }

  /**
   * Delivers one job.
   *
   * @param lease the job
   * @return true; every other answer is an exception
   * @throws Retryable if the receiver may accept it later
   * @throws Permanent if the receiver refused it
   * @throws BadAckException if it answered with success, but no ack
   * @throws InterruptedException if the thread was interrupted; whether the work happened is not
   *     known
   * @throws IllegalArgumentException if null
   */
  @Override
  public Boolean handle(Lease lease) throws InterruptedException {
    HttpResponse<Optional<byte[]>> answer = exchange(request(Arguments.notNull(lease, "lease")));
    if (answer.statusCode() / 100 != 2) {
      throw refusal(answer.statusCode(), answer.headers());
    }
    Optional<String> complaint =
        answer.body().isEmpty()
            ? Optional.of("which is longer than " + maxAnswerBytes + " bytes")
            : acknowledgement.complaint(answer.body().get());
    if (complaint.isPresent()) {
      throw new BadAckException(
          lease,
          "the receiver answered " + answer.statusCode() + " with a body " + complaint.get());
    }
    return true;
  }

  private HttpRequest request(Lease lease) {
    HttpRequest.Builder request = HttpRequest.newBuilder(receiver);
    headers.forEach(request::setHeader);
    return request
        .setHeader("Idempotency-Key", IdempotencyKey.of(lease))
        .setHeader("Redrive-Token", String.valueOf(lease.token()))
        .setHeader("Redrive-Attempt", String.valueOf(lease.attempt()))
        .POST(BodyPublishers.ofString(lease.payload()))
        .build();
  }

  /** The request's own timeout would end with the headers, and let a body drip for ever. */
  private HttpResponse<Optional<byte[]>> exchange(HttpRequest request) throws InterruptedException {
    CompletableFuture<HttpResponse<Optional<byte[]>>> exchange =
        client.sendAsync(request, Answer.upTo(maxAnswerBytes));
    try {
      return exchange.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      exchange.cancel(true);
      throw new Retryable(HttpTimeoutException.class.getSimpleName(), e);
    } catch (InterruptedException e) {
      exchange.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      throw lost(e.getCause() == null ? e : e.getCause());
    }
  }

  private static Retryable lost(Throwable trouble) {
    if (trouble instanceof Error error) {
      throw error;
    }
    return new Retryable(name(trouble), trouble);
  }

  /** The client wraps what happened to a connection in IOExceptions that only say when. */
  private static String name(Throwable trouble) {
    Throwable cause = trouble.getCause();
    return trouble.getClass() == IOException.class && cause != null
        ? name(cause)
        : trouble.getClass().getSimpleName();
  }

  private RuntimeException refusal(int status, HttpHeaders headers) {
    String fault = "http-" + status;
    // RFC 9110, section 15: a status that is none counts as a 5xx
    boolean mayPass = RETRYABLE.contains(status) || status >= 500 || status < 200;
    return mayPass ? new Retryable(fault, delay(headers), null) : new Permanent(fault);
  }

  private @Nullable Duration delay(HttpHeaders headers) {
    return headers
        .firstValue("Retry-After")
        .flatMap(wanted -> RetryAfter.delay(wanted, clock.instant(), maxRetryAfter))
        .orElse(null);
  }

  @Override
  public String toString() {
    return "HttpHandler[" + receiver.getHost() + "]";
  }

  /** Settings of a handler. */
  public static final class Builder {
    private static final Set<String> OWN_HEADERS =
        Set.of("idempotency-key", "redrive-token", "redrive-attempt");
    private static final int LARGEST_MAX_ANSWER_BYTES = 16 << 20;
    private static final int LARGEST_PORT = 65_535;

    private final URI receiver;
    private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration timeout = Duration.ofSeconds(20);
    private Duration maxRetryAfter = Duration.ofHours(1);
    private int maxAnswerBytes = 64 << 10;
    private InstantSource clock = InstantSource.system();

    private Builder(URI receiver) {
      this.receiver = checked(receiver);
      headers.put("Content-Type", "application/json");
      headers.put("Accept", "application/json");
    }

    /** Texts name the rule and not the address, which may hold a secret. */
    private static URI checked(URI receiver) {
      Arguments.notNull(receiver, "receiver");
      String scheme = String.valueOf(receiver.getScheme()).toLowerCase(Locale.ROOT);
      if (!scheme.equals("http") && !scheme.equals("https")) {
        throw new IllegalArgumentException("receiver must be an absolute http or https address");
      }
      if (receiver.getHost() == null) {
        throw new IllegalArgumentException("receiver must have a host");
      }
      if (receiver.getPort() == 0 || receiver.getPort() > LARGEST_PORT) {
        throw new IllegalArgumentException("receiver must have a port of 1 to " + LARGEST_PORT);
      }
      if (receiver.getRawUserInfo() != null || receiver.getRawFragment() != null) {
        throw new IllegalArgumentException(
            "receiver must have no user and no fragment, which would not be sent;"
                + " for a user set the header Authorization");
      }
      return receiver;
    }

    /**
     * Adds a header to every request, or replaces one. {@code Content-Type} and {@code Accept} are
     * {@code application/json} unless set here.
     *
     * @param name none of the three that name the job, and none that the JDK's client keeps to
     *     itself, such as {@code Host}
     * @param value its text
     * @return this
     * @throws IllegalArgumentException if null, or no such header
     */
    public Builder header(String name, String value) {
      Arguments.notNull(name, "name");
      Arguments.notNull(value, "value");
      if (OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
        throw new IllegalArgumentException("name must not be one of " + OWN_HEADERS);
      }
      if (!canBeSent(name, value)) {
        throw new IllegalArgumentException(
            "name and value must make a header that java.net.http lets its users send");
      }
      headers.put(name, value);
      return this;
    }

    private static boolean canBeSent(String name, String value) {
      try {
        return HttpRequest.newBuilder().setHeader(name, value) != null;
      } catch (IllegalArgumentException e) {
        return false; // and not thrown on: its text quotes the value, perhaps a password
      }
    }

    /**
     * How long to wait for a connection. The default is 5 s.
     *
     * @param connectTimeout 1 ms to 3,650 days
     * @return this
     * @throws IllegalArgumentException if null or out of range
     */
    public Builder connectTimeout(Duration connectTimeout) {
      this.connectTimeout = Arguments.positive(connectTimeout, "connectTimeout");
      return this;
    }

    /**
     * How long one delivery may take, from connecting to the end of the answer. The default is 20
     * s. Keep it well below the dispatcher's lease, or a slow answer finds its job in other hands.
     *
     * @param timeout 1 ms to 3,650 days
     * @return this
     * @throws IllegalArgumentException if null or out of range
     */
    public Builder timeout(Duration timeout) {
      this.timeout = Arguments.positive(timeout, "timeout");
      return this;
    }

    /**
     * The longest wait that a receiver may ask for with {@code Retry-After}; if it asks for more,
     * the wait is this long. The default is 1 hour. 0 leaves every wait to the queue's retry
     * policy.
     *
     * @param maxRetryAfter 0 to 3,650 days
     * @return this
     * @throws IllegalArgumentException if null or out of range
     */
    public Builder maxRetryAfter(Duration maxRetryAfter) {
      this.maxRetryAfter = Arguments.duration(maxRetryAfter, "maxRetryAfter", Duration.ZERO);
      return this;
    }

    /**
     * The longest answer that is read; a longer one is no ack. The default is 64 KiB.
     *
     * @param bytes 1 to 16,777,216
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public Builder maxAnswerBytes(int bytes) {
      this.maxAnswerBytes = Arguments.range(bytes, "bytes", 1, LARGEST_MAX_ANSWER_BYTES);
      return this;
    }

    /**
     * What a date in {@code Retry-After} is compared with. The default is the system's clock.
     *
     * @param clock the clock
     * @return this
     * @throws IllegalArgumentException if null
     */
    public Builder clock(InstantSource clock) {
      this.clock = Arguments.notNull(clock, "clock");
      return this;
    }

    /**
     * Makes the handler.
     *
     * @return the handler
     * @throws IllegalStateException if Jackson is not on the class path
     */
    public HttpHandler build() {
      return new HttpHandler(this);
    }
  }
}
